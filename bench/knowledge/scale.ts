/**
 * Time and memory of the text core with many documents, and with very many tiny ones.
 *
 *   bun bench/knowledge/scale.ts [--folder FOLDER] [--documents 20000] [--items 100000]
 */
import {
  browse,
  buildSegment,
  mergeSegments,
  openSegment,
  search,
  type View,
} from "../../src/text/index.ts";
import { readOptions } from "../../support/bench/options.ts";
import { mebibytes } from "../../support/bench/table.ts";
import { readCorpus } from "../../support/relevance/corpus.ts";
import { knownItemQueries } from "../../support/relevance/queries.ts";
import { synthesise } from "../../support/relevance/synthesise.ts";
import { median, quantile } from "../../support/statistics.ts";

const options = readOptions({
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: 20_000,
  items: 100_000,
});
const { documents: documentCount, items: itemCount } = options;
const WHOLE = { shardIndex: 0, shardCount: 1 };
const UPDATES = 20;
const BROWSE_PAGE = 12;

function timed<T>(run: () => T): [T, number] {
  const start = performance.now();
  const result = run();
  return [result, performance.now() - start];
}

function viewOf(...buffers: ArrayBufferLike[]): View {
  const segments = buffers.map((buffer) => openSegment(buffer, false));
  return { segments, documentSets: segments.map(() => null) };
}

function latencies(view: View, queries: readonly string[]): string {
  const ask = (query: string) => search(view, { query, limit: 12, ...WHOLE });
  for (const query of queries) ask(query);
  const times = queries.map((query) => timed(() => ask(query))[1]);
  return `p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`;
}

function measureDocuments(): void {
  const documents = synthesise(readCorpus(options.folder), documentCount, 1);
  const queries = knownItemQueries(documents, 2, 100).map((query) => query.text);
  const [buffer, buildTime] = timed(() => buildSegment(documents));
  const [, verifyTime] = timed(() => openSegment(buffer));
  const [segment, openTime] = timed(() => openSegment(buffer, false));
  console.log(`${documentCount} documents, ${segment.tokens.length} tokens`);
  console.log(`  build ${(buildTime / 1000).toFixed(2)} s`);
  console.log(
    `  segment ${mebibytes(buffer.byteLength, 1)} MiB, all the memory that a search needs`,
  );
  console.log(
    `  open ${verifyTime.toFixed(1)} ms with checksum, ${openTime.toFixed(2)} ms without`,
  );
  console.log(`  search, one segment: ${latencies(viewOf(buffer), queries)}`);

  const updates = documents.slice(0, UPDATES).map((each) => ({ ...each, id: `${each.id}-new` }));
  const [small, smallTime] = timed(() => buildSegment(updates));
  console.log(`  ${UPDATES} changed documents become a segment in ${smallTime.toFixed(1)} ms`);
  console.log(`  search, two segments: ${latencies(viewOf(buffer, small), queries)}`);
  const parts = [segment, openSegment(small)].map((each) => ({ segment: each, keep: null }));
  const [, mergeTime] = timed(() => mergeSegments(parts));
  console.log(`  merge of both ${(mergeTime / 1000).toFixed(2)} s`);
}

function measureBrowsing(): void {
  const items = Array.from({ length: itemCount }, (_, i) => ({
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
  let after: string | undefined;
  while (true) {
    const request = { limit: BROWSE_PAGE, ...WHOLE, ...(after === undefined ? {} : { after }) };
    const [page, time] = timed(() => browse(view, request));
    const last = page.at(-1);
    if (last === undefined) break;
    pageTimes.push(time * 1000);
    after = view.segments[0]?.path(last.document);
  }
  const tenth = Math.ceil(pageTimes.length / 10);
  const medianOf = (times: number[]) => median(times).toFixed(1);
  console.log(`${itemCount} tiny items, built in ${(buildTime / 1000).toFixed(2)} s`);
  console.log(`  segment ${mebibytes(buffer.byteLength, 1)} MiB`);
  console.log(
    `  a page of ${BROWSE_PAGE}: first tenth ${medianOf(pageTimes.slice(tenth / 2, tenth))} us, ` +
      `last tenth ${medianOf(pageTimes.slice(-tenth))} us`,
  );
}

measureDocuments();
measureBrowsing();
console.log(`resident memory at the end ${mebibytes(process.memoryUsage().rss)} MiB`);
