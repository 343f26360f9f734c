import { readdirSync } from "node:fs";
import type { Sql } from "../../src/db/client.ts";
import type { BenchContext } from "../../support/bench/context.ts";
import type { BenchServer } from "../../support/bench/server.ts";
import { temporaryFolder } from "../../support/folders.ts";

/** Graphs are built meanwhile, and nodes report their memory twice per second. */
const SETTLE_MS = 1_000;
/** PostgreSQL publishes its statistics at most this late. */
const STATISTICS_MS = 2_500;

/** How long a node takes until all projects are loaded, by where it reads them. */
interface StartFigures {
  readonly from: string;
  readonly seconds: number;
  /** CPU seconds of the node. */
  readonly cpu: number;
  /** Rows of chunks that PostgreSQL has read meanwhile. */
  readonly chunks: number;
}

async function chunksRead(sql: Sql): Promise<number> {
  await Bun.sleep(STATISTICS_MS);
  const [row] = await sql<{ rows: number }[]>`
    SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows
    FROM pg_stat_user_tables WHERE relname = 'chunks'`;
  return row?.rows ?? 0;
}

/** Projects of which there is a copy. */
const copiesIn = (folder: string) =>
  readdirSync(folder, { recursive: true }).filter((name) => `${name}`.endsWith("manifest.json"))
    .length;

/** Waits until a node has indexed what it has in memory. */
export async function untilComplete(node: BenchServer): Promise<void> {
  do await Bun.sleep(SETTLE_MS);
  while ((await node.metric("tessera_index_complete")) !== 1);
}

/** Starts nodes until there is a copy of every project: the end of a node uploads as much as its time allows. */
export async function untilCopied(
  folder: string,
  projects: number,
  start: () => Promise<BenchServer>,
): Promise<void> {
  while (copiesIn(folder) < projects) {
    const node = await start();
    await untilComplete(node);
    await node.stop();
  }
}

/** Starts nodes that load all projects, and prints a row for each. */
export async function measureStarts(
  context: BenchContext,
  sql: Sql,
  databaseUrl: string,
  projects: number,
): Promise<StartFigures[]> {
  const [own, copies] = [temporaryFolder("bench-node"), temporaryFolder("bench-copies")];
  const shared = { SNAPSHOT_URL: `file://${copies}` };
  const start = (folder: string, env: Readonly<Record<string, string>>) =>
    context.startServer({
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      SEARCH_WORKERS: "1",
      ...env,
    });
  await untilCopied(copies, projects, () => start(own, shared));
  context.out.head("start from", "s", "CPU, s", "chunks read in PostgreSQL");
  const figures: StartFigures[] = [];
  for (const [from, folder, env] of [
    ["PostgreSQL", temporaryFolder("bench-node"), {}],
    ["own snapshots", own, {}],
    ["shared snapshots", temporaryFolder("bench-node"), shared],
  ] as const) {
    const before = await chunksRead(sql);
    const node = await start(folder, env);
    const [seconds, cpu] = [node.startSeconds, node.cpuSeconds()];
    const chunks = (await chunksRead(sql)) - before;
    await node.stop();
    context.out.row(from, seconds.toFixed(2), cpu.toFixed(2), chunks);
    figures.push({ from, seconds, cpu, chunks });
  }
  return figures;
}
