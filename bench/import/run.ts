/**
 * How fast chunks are imported, and with how much memory, as a ratio to bare inserts of the same rows.
 *
 *   bun bench/import/run.ts [--chunks 100000] [--dimension 768]
 *
 * The baseline sends the same embeddings to the same PostgreSQL in one process, with nothing read,
 * parsed, checked or derived: what PostgreSQL alone takes.
 */
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";

const { values } = parseArgs({
  options: {
    chunks: { type: "string", default: "100000" },
    dimension: { type: "string", default: "768" },
  },
});
const chunks = Number(values.chunks);
const dimension = Number(values.dimension);

const CHUNKS_PER_FILE = 10;
const BATCH_ROWS = 500;
const MEBIBYTE = 1_048_576;
const TEXT = "A sentence that stands for what a chunk of documentation holds. ".repeat(11);
const ROOT = join(import.meta.dir, "..", "..");

/** Numbers from -0.5 to 0.5 of a linear congruential generator. */
function* randomVectors(): Generator<Float32Array> {
  let state = 1;
  for (;;) {
    const vector = new Float32Array(dimension);
    for (let i = 0; i < dimension; i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      vector[i] = state / 2 ** 32 - 0.5;
    }
    yield vector;
  }
}

const base64 = (vector: Float32Array) => Buffer.from(vector.buffer).toString("base64");
const numbers = (vector: Float32Array) => Array.from(vector, (x) => Number(x.toFixed(7)));

async function writeRecords(path: string, form: (vector: Float32Array) => unknown) {
  const stream = createWriteStream(path);
  const put = async (record: object) => {
    if (!stream.write(`${JSON.stringify(record)}\n`))
      await new Promise((r) => stream.once("drain", r));
  };
  await put({ record: "user", email: "ada@example.com", name: "Ada" });
  await put({ record: "project", slug: "large", name: "Large", owner: "ada@example.com" });
  await put({ record: "environment", project: "large", name: "production" });
  const vectors = randomVectors();
  for (let file = 0; file < chunks / CHUNKS_PER_FILE; file++) {
    await put({
      record: "file",
      project: "large",
      path: `docs/${file}.md`,
      environments: ["production"],
      chunks: Array.from({ length: CHUNKS_PER_FILE }, (_, i) => ({
        content: `${file}.${i} ${TEXT}`,
        embedding: form(vectors.next().value as Float32Array),
      })),
    });
  }
  await new Promise((done) => stream.end(done as () => void));
}

/** Seconds that PostgreSQL takes for the rows of the chunks alone. */
async function bareInserts(sql: Sql): Promise<number> {
  const ids = {
    project: crypto.randomUUID(),
    file: crypto.randomUUID(),
    version: crypto.randomUUID(),
  };
  await sql`INSERT INTO projects (id, slug, name) VALUES (${ids.project}, 'bare', 'Bare')`;
  await sql`INSERT INTO files (id, project_id, path) VALUES (${ids.file}, ${ids.project}, 'x.md')`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key)
    VALUES (${ids.version}, ${ids.project}, ${ids.file}, 'v')`;
  const vectors = randomVectors();
  let seconds = 0;
  for (let from = 0; from < chunks; from += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, chunks - from) }, (_, i) => from + i);
    const embeddings = rows.map(() => base64(vectors.next().value as Float32Array));
    const started = performance.now();
    await sql`
      INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
        dimension, embedding)
      SELECT gen_random_uuid(), ${ids.project}, ${ids.file}, ${ids.version}, 'x.md', u.index,
        u.index || ${TEXT}::text, ${dimension}::integer, decode(u.embedding, 'base64')
      FROM unnest(${rows}::integer[], ${embeddings}::text[]) u (index, embedding)`;
    seconds += (performance.now() - started) / 1_000;
  }
  return seconds;
}

async function importFile(path: string, url: string) {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, "src/cli/main.ts", "import", path], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: url },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the import failed");
  const seconds = (performance.now() - started) / 1_000;
  const usage = child.resourceUsage();
  const cpu = Number(usage?.cpuTime.total ?? 0) / 1e6;
  return { seconds, cpu, memory: (usage?.maxRSS ?? 0) / MEBIBYTE };
}

const folder = mkdtempSync(join(tmpdir(), "tessera-bench-import-"));
const server = await openEmbeddedDatabase({ dataDir: join(folder, "data"), log: () => {} });
const admin = openDatabase(server.url, { connections: 1, statementTimeoutMs: 0 });

async function withDatabase<T>(name: string, work: (sql: Sql, url: string) => Promise<T>) {
  await admin.unsafe(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.href, { connections: 1, statementTimeoutMs: 0 });
  try {
    await migrate(sql);
    await sql`CHECKPOINT`;
    return await work(sql, url.href);
  } finally {
    await sql.end();
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

try {
  const bare = await withDatabase("bare", bareInserts);
  const table: Record<string, string | number>[] = [
    { what: "bare inserts", "chunks/s": Math.round(chunks / bare), "of baseline": "1.00" },
  ];
  for (const [what, form] of [
    ["import, base64", base64],
    ["import, arrays of numbers", numbers],
  ] as const) {
    const path = join(folder, "records.ndjson");
    await writeRecords(path, form);
    const { seconds, cpu, memory } = await withDatabase("imported", (_sql, url) =>
      importFile(path, url),
    );
    table.push({
      what,
      "chunks/s": Math.round(chunks / seconds),
      "of baseline": (bare / seconds).toFixed(2),
      "file MiB": Math.round(statSync(path).size / MEBIBYTE),
      seconds: seconds.toFixed(1),
      "CPU s": cpu.toFixed(1),
      "peak MiB": Math.round(memory),
    });
  }
  console.log(`${chunks} chunks of ${dimension} dimensions`);
  console.table(table);
} finally {
  await admin.end();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
