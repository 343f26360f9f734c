/**
 * The memory of an index whose files are replaced again and again, beside that of a fresh index.
 *
 *   bun bench/micro/updates.ts [--files 10000] [--updates 100000] [--dimension 768]
 *                              [--transaction 500]
 *
 * Each update replaces the one chunk of a file by another. It prints the time, and the memory of the
 * index and of the process after maintenance has ended.
 */

import * as native from "../../native/index.ts";
import { VectorIndex } from "../../src/indexing/vector/vector-index.ts";
import type { VersionReader } from "../../src/indexing/versions/version-index.ts";
import { readOptions } from "../../support/bench/options.ts";
import { mebibytes, printHead, printRow, secondsSince } from "../../support/bench/table.ts";
import { PLAIN_NAMES } from "../../support/plain-names.ts";
import { randomNumbers } from "../../support/random.ts";

const options = readOptions({
  files: 10_000,
  updates: 100_000,
  dimension: 768,
  transaction: 500,
});
const { files, updates, dimension, transaction } = options;
const PROJECT = "updates";
const SCOPE = "environment";

const idOf = (version: number) =>
  `00000000-0000-4000-8000-${version.toString(16).padStart(12, "0")}`;

function embeddingOf(version: number): Uint8Array {
  const random = randomNumbers(version + 1);
  return new Uint8Array(Float32Array.from({ length: dimension }, () => random() - 0.5).buffer);
}

const reader: VersionReader = {
  async *chunks(ids) {
    yield ids.map((id) => ({
      ...{ id, file_version_id: id, file_id: id, file_path: "file.md", index: 0 },
      content: "x".repeat(500),
      ...{ start_offset: 0, end_offset: 500, token_count: 100, metadata: "{}", dimension },
      embedding: embeddingOf(Number.parseInt(id.slice(-12), 16)),
    }));
  },
  async *documents() {},
};

/** An index that holds these versions. */
async function indexOf(versions: readonly number[]): Promise<VectorIndex> {
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT);
  for (let first = 0; first < versions.length; first += transaction) {
    await index.add(PROJECT, versions.slice(first, first + transaction).map(idOf), reader);
  }
  index.setScope(PROJECT, SCOPE, versions.map(idOf));
  return index;
}

async function settle(index: VectorIndex): Promise<void> {
  while (index.maintain(PROJECT) !== "done") await Bun.sleep(10);
}

async function report(name: string, index: VectorIndex, startedAt: number): Promise<number> {
  await settle(index);
  Bun.gc(true);
  const bytes = index.stats(PROJECT).reduce((sum, part) => sum + part.bytes, 0);
  const rss = process.memoryUsage.rss();
  printRow(name, secondsSince(startedAt).toFixed(0), mebibytes(bytes), mebibytes(rss));
  return bytes;
}

async function update(index: VectorIndex, versions: number[]): Promise<void> {
  for (let done = 0; done < updates; done += transaction) {
    const size = Math.min(transaction, updates - done);
    const added = Array.from({ length: size }, (_, i) => files + done + i);
    for (const version of added) versions[version % files] = version;
    await index.add(PROJECT, added.map(idOf), reader);
    index.setScope(PROJECT, SCOPE, versions.map(idOf));
    index.maintain(PROJECT);
    await Bun.sleep(0);
  }
}

const versions = Array.from({ length: files }, (_, i) => i);
printHead("index", "s", "index, MiB", "process, MiB");
let startedAt = performance.now();
const index = await indexOf(versions);
const fresh = await report("fresh", index, startedAt);
startedAt = performance.now();
await update(index, versions);
const updated = await report(`after ${updates.toLocaleString("en")} updates`, index, startedAt);
process.stdout.write(
  `\nmemory after the updates to that of a fresh index: ${(updated / fresh).toFixed(2)}\n`,
);
native.dropProject(PROJECT);
