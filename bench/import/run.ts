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
import type { Sql } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { randomNumbers } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { ImportCost } from "../harness/import-file.ts";
import { mebibytes, type Output, secondsSince } from "../harness/table.ts";

export const OPTIONS = { chunks: 100_000, dimension: 768 };
type Options = typeof OPTIONS;

const CHUNKS_PER_FILE = 10;
const BATCH_ROWS = 500;
const TEXT = "A sentence as documentation has it, to fill the text of a chunk. ".repeat(11);

function* randomVectors(dimension: number): Generator<Float32Array> {
  const next = randomNumbers(1);
  for (;;) yield Float32Array.from({ length: dimension }, () => next() - 0.5);
}

const numbers = (vector: Float32Array) => Array.from(vector, (x) => Number(x.toFixed(7)));

async function writeRecords(
  path: string,
  { chunks, dimension }: Options,
  form: (vector: Float32Array) => unknown,
) {
  const stream = createWriteStream(path);
  const put = async (record: object) => {
    if (!stream.write(`${JSON.stringify(record)}\n`))
      await new Promise((r) => stream.once("drain", r));
  };
  await put({ record: "user", email: "ada@example.com", name: "Ada" });
  await put({ record: "project", slug: "large", name: "Large", owner: "ada@example.com" });
  await put({ record: "environment", project: "large", name: "production" });
  const vectors = randomVectors(dimension);
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
async function bareInserts(sql: Sql, { chunks, dimension }: Options): Promise<number> {
  const ids = {
    project: crypto.randomUUID(),
    file: crypto.randomUUID(),
    version: crypto.randomUUID(),
  };
  await sql`INSERT INTO projects (id, slug, name) VALUES (${ids.project}, 'bare', 'Bare')`;
  await sql`INSERT INTO files (id, project_id, path) VALUES (${ids.file}, ${ids.project}, 'x.md')`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, title)
    VALUES (${ids.version}, ${ids.project}, ${ids.file}, 'v', 'x')`;
  const vectors = randomVectors(dimension);
  let seconds = 0;
  for (let from = 0; from < chunks; from += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, chunks - from) }, (_, i) => from + i);
    const embeddings = rows.map(() => base64Of(vectors.next().value as Float32Array));
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

interface Imported extends ImportCost {
  readonly form: string;
  readonly fileBytes: number;
  /** The chunks that are stored after it. */
  readonly stored: number;
}

interface Figures {
  /** The seconds of PostgreSQL alone. */
  readonly bare: number;
  readonly imported: readonly Imported[];
}

function print(out: Output, { chunks, dimension }: Options, { bare, imported }: Figures): void {
  out.line(`${chunks} chunks of ${dimension} dimensions`);
  out.frames([
    { what: "bare inserts", "chunks/s": Math.round(chunks / bare), "of baseline": "1.00" },
    ...imported.map(({ form, seconds, cpu, memory, fileBytes }) => ({
      what: `import, ${form}`,
      "chunks/s": Math.round(chunks / seconds),
      "of baseline": (bare / seconds).toFixed(2),
      "file MiB": mebibytes(fileBytes),
      seconds: seconds.toFixed(1),
      "CPU s": cpu.toFixed(1),
      "peak MiB": mebibytes(memory),
    })),
  ]);
}

export async function run(options: Options, context: BenchContext): Promise<Figures> {
  const bare = await bareInserts((await context.openDatabase()).sql, options);
  const path = join(temporaryFolder("bench"), "records.ndjson");
  const imported: Imported[] = [];
  for (const [form, encode] of [
    ["base64", base64Of],
    ["arrays of numbers", numbers],
  ] as const) {
    await writeRecords(path, options, encode);
    const { sql, url } = await context.openDatabase();
    const spent = await context.importFile(path, url);
    const [row] = await sql`SELECT count(*)::integer AS stored FROM chunks`;
    const stored = row?.["stored"] as number;
    imported.push({ ...spent, stored, form, fileBytes: statSync(path).size });
  }
  print(context.out, options, { bare, imported });
  return { bare, imported };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
