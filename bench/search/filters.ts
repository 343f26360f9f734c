/**
 * Searches with filters against the same searches over stored scopes with the same members.
 *
 *   bun bench/search/filters.ts [--chunks 50000] [--dimension 768] [--queries 100] [--requests 1000]
 *                               [--rounds 3] [--cold 100] [--changes 20] [--vectors FILE]
 *
 * For each share of the files that match, and each relation of the matches to the queries: recall@10 against
 * brute force, answers that are short, and server CPU per query, over a release and by a filter, which is
 * warm, or cold: another one with each request. Then the time until a change of frontmatter is filtered.
 * `--vectors` reads a file of vectors instead of generating clusters.
 */
import { base64Of } from "../../src/domain/vector.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import { Api, jsonBody, keyedRequest } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import { median, quantile } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import {
  contentOf,
  type FilteredWorld,
  fileOf,
  filterOf,
  makeFilteredWorld,
  membersOf,
  pathOf,
  RELATIONS,
  type Relation,
  releaseName,
  SHARES,
  writeFilteredWorld,
} from "./filtered-world.ts";
import { answersOf, nearestOf, type Search } from "./truth.ts";
import { type Owned, SLUG, untilGraphed } from "./world.ts";

export const OPTIONS = {
  chunks: 50_000,
  dimension: 768,
  queries: 100,
  requests: 1_000,
  rounds: 3,
  cold: 100,
  changes: 20,
  vectors: "",
};
type Options = typeof OPTIONS;

const CLIENTS = 16;
const POLL_MS = 5;
const PRODUCTION = `/projects/${SLUG}/environments/production/search`;

interface Bench {
  readonly options: Options;
  readonly world: FilteredWorld & Owned;
  readonly server: BenchServer;
  readonly api: Api;
  readonly load: Load;
}

const queriesOf = (world: FilteredWorld, relation: Relation) =>
  relation === "unrelated" ? world.queries : world.nearQueries;

function storedSearches(world: FilteredWorld, relation: Relation, share: number): Search[] {
  const path = `/projects/${SLUG}/releases/${releaseName(relation, share)}/search`;
  return queriesOf(world, relation).map((query) => ({ path, body: jsonBody(query) }));
}

/** @param variant of the filter of the first search; later ones have the same, or the next ones */
function filteredSearches(
  world: FilteredWorld,
  relation: Relation,
  share: number,
  variant: { readonly first: number; readonly step: number; readonly count: number },
): Search[] {
  const { dimension } = world;
  const queries = queriesOf(world, relation);
  return Array.from({ length: variant.count }, (_, i) => {
    const query = queries[i % queries.length] as Float32Array;
    const vector = base64Of(query);
    const filter = filterOf(world, relation, share, variant.first + i * variant.step);
    return {
      path: PRODUCTION,
      body: JSON.stringify({ vector, dimension, threshold: 0, filter }),
    };
  });
}

/** Server CPU milliseconds per search, by the way it is asked for. */
async function costs({ server, world, load, options }: Bench, relation: Relation, share: number) {
  const payloads = (searches: readonly Search[]) =>
    searches.map(({ path, body }) => keyedRequest(server, "POST", path, world.apiKey, body));
  const { requests, rounds, cold } = options;
  const count = queriesOf(world, relation).length;
  const stored = payloads(storedSearches(world, relation, share));
  const same = { first: 0, step: 0, count };
  const warm = payloads(filteredSearches(world, relation, share, same));
  const runs = { stored: [] as number[], warm: [] as number[], cold: [] as number[] };
  for (const list of [stored, warm]) await load.measure(server, CLIENTS, count, list);
  for (let round = 0; round < rounds; round++) {
    runs.stored.push((await load.measure(server, CLIENTS, requests, stored)).cpu);
    runs.warm.push((await load.measure(server, CLIENTS, requests, warm)).cpu);
    const other = { first: 1 + round * cold, step: 1, count: cold };
    const searches = payloads(filteredSearches(world, relation, share, other));
    runs.cold.push((await load.measure(server, CLIENTS, cold, searches)).cpu);
  }
  return {
    stored: median(runs.stored),
    warm: median(runs.warm),
    cold: median(runs.cold),
  };
}

/** The clock of the processor has ticks, so a few searches may take no time. */
const ratio = (cpu: number, baseline: number) =>
  baseline === 0 ? "" : (cpu / baseline).toFixed(2);

async function measureScopes(bench: Bench, out: Output) {
  const { world, api } = bench;
  const scopes = [];
  out.head(
    "matches",
    "share",
    "plan",
    "recall, release",
    "recall, filter",
    "short",
    "release, CPU ms",
    "warm",
    "ratio",
    "cold",
    "ratio",
  );
  for (const relation of RELATIONS) {
    for (const share of SHARES) {
      const queries = queriesOf(world, relation);
      const truth = nearestOf(world, membersOf(world, relation, share), queries);
      const same = { first: 0, step: 0, count: queries.length };
      const stored = storedSearches(world, relation, share);
      const release = await answersOf(api, stored, truth, fileOf);
      const filtered = filteredSearches(world, relation, share, same);
      const filter = await answersOf(api, filtered, truth, fileOf);
      const cpu = await costs(bench, relation, share);
      out.row(
        relation,
        `${share * 100}%`,
        filter.plans,
        release.recall.toFixed(4),
        filter.recall.toFixed(4),
        filter.short,
        cpu.stored.toFixed(3),
        cpu.warm.toFixed(3),
        ratio(cpu.warm, cpu.stored),
        cpu.cold.toFixed(3),
        ratio(cpu.cold, cpu.stored),
      );
      scopes.push({ relation, share, release, filter, cpu });
    }
  }
  return scopes;
}

/** Milliseconds from the answer to a change of a file's frontmatter until a filter finds it. */
async function measureChanges({ api, world, options }: Bench): Promise<number[]> {
  const times: number[] = [];
  for (let file = 0; file < options.changes; file++) {
    const topic = `changed-${crypto.randomUUID()}`;
    const path = `/projects/${SLUG}/files/${encodeURIComponent(pathOf(file))}?environment=production`;
    await api.call("PUT", path, contentOf(world, file, topic), "text/markdown");
    const started = performance.now();
    const body = { filter: { "frontmatter.topic": topic } };
    const found = () => api.call<Lookup>("POST", `/projects/${SLUG}/knowledge/lookup`, body);
    while ((await found()).total_matches !== 1) await Bun.sleep(POLL_MS);
    times.push(performance.now() - started);
  }
  return times;
}

interface Lookup {
  readonly total_matches: number;
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const { env, sql } = await context.openDatabase();
  const { vectors, queries, dimension } = options;
  const made = makeFilteredWorld(vectors, options.chunks, queries, dimension);
  const world = await writeFilteredWorld(sql, made);
  out.line(`${world.chunks} files of one chunk x ${dimension}`);
  const server = await context.startServer(env);
  await untilGraphed(sql, world.chunks);
  const api = new Api(server.url, world.apiKey);
  const bench: Bench = { options, world, server, api, load: new Load() };
  const scopes = await measureScopes(bench, out);
  const changes = await measureChanges(bench);
  if (changes.length > 0) {
    const [middle, last] = [median(changes), quantile(changes, 1)];
    out.line(`\na change is filtered after ${middle.toFixed(0)} ms, at most ${last.toFixed(0)} ms`);
  }
  return { scopes, changes };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
