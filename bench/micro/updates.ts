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
import { type BenchContext, runBenchmark } from "../../support/bench/context.ts";
import { mebibytes, type Output, secondsSince } from "../../support/bench/table.ts";
import { PLAIN_NAMES } from "../../support/plain-names.ts";
import { randomNumbers } from "../../support/random.ts";

export const OPTIONS = {
  files: 10_000,
  updates: 100_000,
  dimension: 768,
  transaction: 500,
};
type Options = typeof OPTIONS;

const PROJECT = "updates";
const SCOPE = "environment";

const idOf = (version: number) =>
  `00000000-0000-4000-8000-${version.toString(16).padStart(12, "0")}`;

function embeddingOf(version: number, dimension: number): Uint8Array {
  const random = randomNumbers(version + 1);
  return new Uint8Array(Float32Array.from({ length: dimension }, () => random() - 0.5).buffer);
}

const readerOf = (dimension: number): VersionReader => ({
  async *chunks(ids) {
    yield ids.map((id) => ({
      ...{ id, file_version_id: id, file_id: id, file_path: "file.md", index: 0 },
      content: "x".repeat(500),
      ...{ start_offset: 0, end_offset: 500, token_count: 100, metadata: "{}", dimension },
      embedding: embeddingOf(Number.parseInt(id.slice(-12), 16), dimension),
    }));
  },
  async *documents() {},
  async *fields() {},
});

/** An index that holds these versions. */
async function indexOf(
  versions: readonly number[],
  { dimension, transaction }: Options,
): Promise<VectorIndex> {
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT);
  for (let first = 0; first < versions.length; first += transaction) {
    const batch = versions.slice(first, first + transaction).map(idOf);
    await index.add(PROJECT, batch, readerOf(dimension));
  }
  index.setScope(PROJECT, SCOPE, versions.map(idOf));
  return index;
}

/** The index after its maintenance. */
interface State {
  readonly seconds: number;
  readonly bytes: number;
  readonly entries: number;
}

async function settled(index: VectorIndex, startedAt: number): Promise<State> {
  while (index.maintain(PROJECT) !== "done") await Bun.sleep(10);
  Bun.gc(true);
  const parts = index.stats(PROJECT);
  const sum = (of: (part: (typeof parts)[number]) => number) =>
    parts.reduce((total, part) => total + of(part), 0);
  const [bytes, entries] = [sum((part) => part.bytes), sum((part) => part.entries)];
  return { seconds: secondsSince(startedAt), bytes, entries };
}

function print(out: Output, name: string, { seconds, bytes }: State): void {
  out.row(name, seconds.toFixed(0), mebibytes(bytes), mebibytes(process.memoryUsage.rss()));
}

async function update(
  index: VectorIndex,
  versions: number[],
  { files, updates, dimension, transaction }: Options,
): Promise<void> {
  for (let done = 0; done < updates; done += transaction) {
    const size = Math.min(transaction, updates - done);
    const added = Array.from({ length: size }, (_, i) => files + done + i);
    for (const version of added) versions[version % files] = version;
    await index.add(PROJECT, added.map(idOf), readerOf(dimension));
    index.setScope(PROJECT, SCOPE, versions.map(idOf));
    index.maintain(PROJECT);
    await Bun.sleep(0);
  }
}

export async function run(options: Options, { out }: BenchContext) {
  const versions = Array.from({ length: options.files }, (_, i) => i);
  out.head("index", "s", "index, MiB", "process, MiB");
  let startedAt = performance.now();
  const index = await indexOf(versions, options);
  const fresh = await settled(index, startedAt);
  print(out, "fresh", fresh);
  startedAt = performance.now();
  await update(index, versions, options);
  const updated = await settled(index, startedAt);
  print(out, `after ${options.updates.toLocaleString("en")} updates`, updated);
  const ratio = updated.bytes / fresh.bytes;
  out.line(`\nmemory after the updates to that of a fresh index: ${ratio.toFixed(2)}`);
  native.dropProject(PROJECT);
  return { fresh, updated };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
