import { readdirSync } from "node:fs";
import type { BenchServer } from "../harness/server.ts";

/** Graphs are built meanwhile, and nodes report their memory twice per second. */
const SETTLE_MS = 1_000;

/** Projects of which there is a snapshot. */
const snapshotsIn = (folder: string) =>
  readdirSync(folder, { recursive: true }).filter((name) => `${name}`.endsWith("manifest.json"))
    .length;

/** Waits until a node has indexed what it has in memory. */
export async function untilComplete(node: BenchServer): Promise<void> {
  do await Bun.sleep(SETTLE_MS);
  while ((await node.metric("tessera_index_complete")) !== 1);
}

/** Starts nodes until every project has a snapshot: the end of a node saves as much as its time allows. */
export async function untilSaved(
  folder: string,
  projects: number,
  start: () => Promise<BenchServer>,
): Promise<void> {
  while (snapshotsIn(folder) < projects) {
    const node = await start();
    await untilComplete(node);
    await node.stop();
  }
}
