/**
 * Memory of a project before and after it gets a thousand more releases of 95% of its files each.
 *
 *   bun bench/search/releases.ts [--chunks 20000] [--dimension 1536] [--releases 1000] [--settle 3]
 *
 * `--settle` is how many seconds a server gets to finish its graph and its snapshot.
 */

import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { mebibytes, secondsSince } from "../harness/table.ts";
import { makeWorld, writeWorld } from "./world.ts";

export const OPTIONS = { chunks: 20_000, dimension: 1_536, releases: 1_000, settle: 3 };
type Options = typeof OPTIONS;

const SHARED = 0.95;

interface Memory {
  readonly index: number;
  readonly process: number;
}

/** Measures after a start from the snapshot, to leave out what building has allocated. */
async function measure(
  { startServer }: BenchContext,
  env: Readonly<Record<string, string>>,
  settle: number,
): Promise<Memory> {
  const building = await startServer(env);
  await Bun.sleep(settle * 1_000);
  await building.stop();
  const server = await startServer(env);
  await Bun.sleep(settle * 1_000);
  const index = await server.metric("tessera_index_memory_bytes");
  const memory = { index, process: server.anonymousBytes() };
  await server.stop();
  return memory;
}

export async function run({ chunks, dimension, releases, settle }: Options, context: BenchContext) {
  const { env, sql } = await context.openDatabase();
  const { project } = await writeWorld(sql, makeWorld(chunks, 1, dimension));
  const few = await measure(context, env, settle);
  const startedAt = performance.now();
  await sql`
    INSERT INTO releases (id, project_id, name)
    SELECT gen_random_uuid(), ${project.id}, 'many-' || n
    FROM generate_series(1, ${releases}::int) n`;
  await sql`
    SELECT fill_release(r.id, ARRAY(
      SELECT v.id FROM file_versions v WHERE v.project_id = r.project_id
        AND (hashtextextended(r.id::text || v.id::text, 0) & 1023) < ${Math.round(SHARED * 1024)}))
    FROM releases r WHERE r.name LIKE 'many-%'`;
  const writeSeconds = secondsSince(startedAt);
  const many = await measure(context, env, settle);
  const { out } = context;
  out.line(`${chunks} chunks x ${dimension}, written in ${writeSeconds.toFixed(0)} s`);
  out.head("MiB", "few releases", `${releases} more, each ${SHARED * 100}%`, "ratio");
  const print = (name: string, before: number, after: number) =>
    out.row(name, mebibytes(before, 1), mebibytes(after, 1), (after / before).toFixed(3));
  print("index memory", few.index, many.index);
  print("anonymous memory of the process", few.process, many.process);
  return { few, many };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
