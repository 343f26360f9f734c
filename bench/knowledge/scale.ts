/**
 * Time and memory of the text core with many documents, and with very many tiny ones.
 *
 *   bun bench/knowledge/scale.ts [--folder FOLDER] [--documents 20000] [--items 100000]
 */
import { buildSegment, mergeSegments, openSegment } from "../../src/text/index.ts";
import { searchText, type TextView } from "../../support/text-search.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { median, quantile } from "../harness/statistics.ts";
import { mebibytes, type Output } from "../harness/table.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { knownItemQueries } from "../relevance/queries.ts";
import { synthesise } from "../relevance/synthesise.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: 20_000,
  items: 100_000,
};
type Options = typeof OPTIONS;
const UPDATES = 20;
const PAGE = 12;

function timed<T>(run: () => T): [T, number] {
  const start = performance.now();
  const result = run();
  return [result, performance.now() - start];
}

function viewOf(...buffers: ArrayBufferLike[]): TextView {
  const segments = buffers.map((buffer) => openSegment(buffer, false));
  return { segments, documentSets: segments.map(() => null) };
}

/** The time and CPU time of each lookup in milliseconds, and how many of them find something. */
function searchAll(view: TextView, queries: readonly string[]) {
  const ask = (query: string) => searchText(view, query, { limit: PAGE });
  const found = queries.filter((query) => ask(query).hits.length > 0).length;
  const before = process.cpuUsage();
  const times = queries.map((query) => timed(() => ask(query))[1]);
  const { user, system } = process.cpuUsage(before);
  return { found, times, cpu: (user + system) / 1_000 / queries.length };
}

const latencies = ({ times, cpu }: ReturnType<typeof searchAll>) =>
  `p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms, ` +
  `CPU ${cpu.toFixed(2)} ms each`;

function measureDocuments({ folder, documents: count }: Options) {
  const documents = synthesise(readCorpus(folder), count, 1);
  const queries = knownItemQueries(documents, 2, 100).map((query) => query.text);
  const [buffer, buildTime] = timed(() => buildSegment(documents));
  const [, verifyTime] = timed(() => openSegment(buffer));
  const [segment, openTime] = timed(() => openSegment(buffer, false));
  const updates = documents.slice(0, UPDATES).map((each) => ({ ...each, id: `${each.id}-new` }));
  const [small, smallTime] = timed(() => buildSegment(updates));
  const parts = [segment, openSegment(small)].map((each) => ({ segment: each, keep: null }));
  const [merged, mergeTime] = timed(() => mergeSegments(parts));
  return {
    documents: documents.length,
    merged: openSegment(merged.buffer).documentCount,
    tokens: segment.tokens.length,
    bytes: buffer.byteLength,
    queries: queries.length,
    milliseconds: { buildTime, verifyTime, openTime, smallTime, mergeTime },
    one: searchAll(viewOf(buffer), queries),
    two: searchAll(viewOf(buffer, small), queries),
  };
}

function printDocuments(out: Output, figures: ReturnType<typeof measureDocuments>): void {
  const { documents, tokens, bytes, milliseconds, one, two } = figures;
  const { buildTime, verifyTime, openTime, smallTime, mergeTime } = milliseconds;
  out.line(`${documents} documents, ${tokens} tokens`);
  out.line(`  build ${(buildTime / 1000).toFixed(2)} s`);
  out.line(`  segment ${mebibytes(bytes, 1)} MiB, all the memory that a search needs`);
  out.line(`  open ${verifyTime.toFixed(1)} ms with checksum, ${openTime.toFixed(2)} ms without`);
  out.line(`  lookup, one segment: ${latencies(one)}`);
  out.line(`  ${UPDATES} changed documents become a segment in ${smallTime.toFixed(1)} ms`);
  out.line(`  lookup, two segments: ${latencies(two)}`);
  out.line(`  merge of both ${(mergeTime / 1000).toFixed(2)} s`);
}

function measureBrowsing(count: number) {
  const items = Array.from({ length: count }, (_, i) => ({
    id: `item-${i}`,
    path: `items/${String(i).padStart(7, "0")}.md`,
    title: `Item ${i}`,
    headings: [],
    frontmatter: [],
    content: "tiny",
  }));
  const [buffer, buildTime] = timed(() => buildSegment(items));
  const view = viewOf(buffer);
  const pageTimes: number[] = [];
  let listed = 0;
  let progress = "";
  for (let more = true; more; ) {
    const [page, time] = timed(() => searchText(view, null, { limit: PAGE, progress }));
    listed += page.hits.length;
    pageTimes.push(time * 1000);
    ({ more, progress } = page);
  }
  return { listed, pageTimes, buildTime, bytes: buffer.byteLength };
}

function printBrowsing(out: Output, figures: ReturnType<typeof measureBrowsing>): void {
  const { listed, pageTimes, buildTime, bytes } = figures;
  const tenth = Math.ceil(pageTimes.length / 10);
  const medianOf = (times: number[]) => median(times).toFixed(1);
  out.line(`${listed} tiny items, built in ${(buildTime / 1000).toFixed(2)} s`);
  out.line(`  segment ${mebibytes(bytes, 1)} MiB`);
  out.line(
    `  a page of ${PAGE}: first tenth ${medianOf(pageTimes.slice(tenth / 2, tenth))} us, ` +
      `last tenth ${medianOf(pageTimes.slice(-tenth))} us`,
  );
}

export async function run(options: Options, { out }: BenchContext) {
  const documents = measureDocuments(options);
  printDocuments(out, documents);
  const browsing = measureBrowsing(options.items);
  printBrowsing(out, browsing);
  out.line(`resident memory at the end ${mebibytes(process.memoryUsage().rss)} MiB`);
  return { documents, browsing };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
