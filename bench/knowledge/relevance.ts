/**
 * Relevance of lookup compared with MiniSearch, SQLite FTS5 and BM25: the mean reciprocal rank of
 * known items, and the nDCG@10 of queries that people judged.
 *
 *   bun bench/knowledge/relevance.ts [--folder FOLDER] [--seed 1] [--queries 150]
 *                                    [--judged FOLDER,FOLDER...]
 *
 * `--folder` holds Markdown files, `--queries` is the number of queries per kind. A folder of
 * `--judged` holds `documents.ndjson` and `queries.ndjson`; see README.md.
 */

import { basename } from "node:path";
import { readOptions } from "../../support/bench/options.ts";
import { readCorpus } from "../../support/relevance/corpus.ts";
import { meanNdcg, readJudged } from "../../support/relevance/judged.ts";
import { type Measurement, measure } from "../../support/relevance/measure.ts";
import { KINDS, knownItemQueries } from "../../support/relevance/queries.ts";
import { tessera } from "../../support/relevance/tessera.ts";
import { baselines } from "./baseline.ts";

const options = readOptions({
  folder: `${import.meta.dir}/../../fixtures/docs`,
  seed: 1,
  queries: 150,
  judged: "",
});

function measureKnownItems(): void {
  const documents = readCorpus(options.folder);
  const queries = knownItemQueries(documents, options.seed, options.queries);
  console.log(`${documents.length} documents, ${queries.length} queries, seed ${options.seed}`);
  const systems = [["Tessera", tessera(documents)] as const, ...baselines(documents)];
  const rows = systems.map(([name, system]) => ({ name, measured: measure(system, queries) }));
  const own = (rows[0] as { measured: Measurement }).measured;
  console.table(
    rows.map(({ name, measured }) => ({
      system: name,
      ...Object.fromEntries(KINDS.map((kind) => [kind, measured.byKind[kind].toFixed(3)])),
      all: measured.all.toFixed(3),
      "Tessera is": `${(own.all / measured.all).toFixed(2)}x`,
      "p50 us": measured.p50Micros.toFixed(0),
      "p99 us": measured.p99Micros.toFixed(0),
    })),
  );
}

function measureJudged(folder: string): void {
  const { documents, queries } = readJudged(folder);
  console.log(`${basename(folder)}: ${documents.length} documents, ${queries.length} queries`);
  const systems = [["Tessera", tessera(documents)] as const, ...baselines(documents)];
  const rows = systems.map(([name, system]) => ({ name, ndcg: meanNdcg(system, queries) }));
  const own = rows[0]?.ndcg ?? 0;
  console.table(
    rows.map(({ name, ndcg }) => ({
      system: name,
      "nDCG@10": ndcg.toFixed(3),
      "Tessera is": `${(own / ndcg).toFixed(2)}x`,
    })),
  );
}

measureKnownItems();
for (const folder of options.judged.split(",")) if (folder !== "") measureJudged(folder);
