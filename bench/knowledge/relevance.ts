/**
 * Relevance of lookups: mean reciprocal rank of known items, compared with MiniSearch on the same
 * documents and queries.
 *
 * usage: bun bench/knowledge/relevance.ts [FOLDER OF MARKDOWN] [SEED] [QUERIES PER KIND]
 */

import { readCorpus } from "../../support/relevance/corpus.ts";
import { type Measurement, measure } from "../../support/relevance/measure.ts";
import { KINDS, knownItemQueries } from "../../support/relevance/queries.ts";
import { tessera } from "../../support/relevance/tessera.ts";
import { baselines } from "./baseline.ts";

const folder = process.argv[2] ?? `${import.meta.dir}/../../fixtures/docs`;
const seed = Number(process.argv[3] ?? 1);
const perKind = Number(process.argv[4] ?? 150);

const documents = readCorpus(folder);
const queries = knownItemQueries(documents, seed, perKind);
console.log(`${documents.length} documents, ${queries.length} queries, seed ${seed}`);

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
