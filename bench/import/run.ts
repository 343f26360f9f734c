/**
 * Time and memory of importing chunks, as a ratio to bare inserts of the same rows.
 *
 *   bun bench/import/run.ts [--chunks 100000] [--dimension 768]
 *
 * The baseline sends the same embeddings to the same PostgreSQL from one process, without reading,
 * parsing, checking or deriving anything: it is the cost of PostgreSQL alone.
 */
import { createWriteStream, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type BenchDatabase, startDatabase } from "../../support/bench/database.ts";
import { importFile } from "../../support/bench/import-file.ts";
import { readOptions } from "../../support/bench/options.ts";
import { mebibytes, secondsSince } from "../../support/bench/table.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { randomNumbers } from "../../support/random.ts";

const { chunks, dimension } = readOptions({ chunks: 100_000, dimension: 768 });

const CHUNKS_PER_FILE = 10;
const BATCH_ROWS = 500;
const TEXT = "A sentence as documentation has it, to fill the text of a chunk. ".repeat(11);

function* randomVectors(): Generator<Float32Array> {
  const next = randomNumbers(1);
  for (;;) yield Float32Array.from({ length: dimension }, () => next() - 0.5);
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

/** Seconds that PostgreSQL takes to insert the rows of the chunks. */
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
    seconds += secondsSince(started);
  }
  return seconds;
}

/** Runs `work` on a database of its own. */
async function withDatabase<T>(
  server: BenchDatabase,
  name: string,
  work: (sql: Sql, url: string) => Promise<T>,
): Promise<T> {
  await server.sql.unsafe(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.href, { connections: 1, statementTimeoutMs: 0 });
  try {
    await migrate(sql);
    await sql`CHECKPOINT`;
    return await work(sql, url.href);
  } finally {
    await sql.end();
    await server.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

await runProgram(async () => {
  const server = await startDatabase();
  const bare = await withDatabase(server, "bare", bareInserts);
  const table: Record<string, string | number>[] = [
    { what: "bare inserts", "chunks/s": Math.round(chunks / bare), "of baseline": "1.00" },
  ];
  const path = join(temporaryFolder("bench"), "records.ndjson");
  for (const [what, form] of [
    ["import, base64", base64],
    ["import, arrays of numbers", numbers],
  ] as const) {
    await writeRecords(path, form);
    const { seconds, cpu, memory } = await withDatabase(server, "imported", (_sql, url) =>
      importFile(path, url),
    );
    table.push({
      what,
      "chunks/s": Math.round(chunks / seconds),
      "of baseline": (bare / seconds).toFixed(2),
      "file MiB": mebibytes(statSync(path).size),
      seconds: seconds.toFixed(1),
      "CPU s": cpu.toFixed(1),
      "peak MiB": mebibytes(memory),
    });
  }
  console.log(`${chunks} chunks of ${dimension} dimensions`);
  console.table(table);
});
