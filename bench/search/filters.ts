/**
 * Searches with filters against the same searches over stored scopes with the same members.
 *
 *   bun bench/search/filters.ts [--chunks 50000] [--dimension 768] [--queries 100] [--requests 1000]
 *                               [--rounds 3] [--cold 100] [--changes 20] [--vectors FILE] [--data DIR]
 *
 * For each share of the files that match, and each relation of the matches to the queries: recall@10 against
 * brute force, answers that are short, and server CPU per query, over a release and by a filter, which is
 * warm, or cold: another one with each request. Then the time until a change of frontmatter is filtered.
 * `--vectors` reads a file of vectors instead of generating clusters, `--data` keeps the database.
 */
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { LoadGenerator } from "../harness/load.ts";
import { type BenchServer, postRequest } from "../harness/server.ts";
import { median, quantile } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import {
  contentOf,
  type FilteredWorld,
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
import { nearestOf } from "./truth.ts";
import { chunkId, SLUG, untilGraphed } from "./world.ts";

export const OPTIONS = {
  chunks: 50_000,
  dimension: 768,
  queries: 100,
  requests: 1_000,
  rounds: 3,
  cold: 100,
  changes: 20,
  vectors: "",
  data: "",
};
type Options = typeof OPTIONS;

const CLIENTS = 16;
const POLL_MS = 5;
const PRODUCTION = `/projects/${SLUG}/environments/production/search`;

interface Bench {
  readonly options: Options;
  readonly world: FilteredWorld;
  readonly server: BenchServer;
  readonly load: LoadGenerator;
}

/** A search: where it is sent, and its body. */
interface Search {
  readonly path: string;
  readonly body: string;
}

const queriesOf = (world: FilteredWorld, relation: Relation) =>
  relation === "unrelated" ? world.queries : world.nearQueries;

function storedSearches(world: FilteredWorld, relation: Relation, share: number): Search[] {
  const path = `/projects/${SLUG}/releases/${releaseName(relation, share)}/search`;
  const { dimension } = world;
  return queriesOf(world, relation).map((query) => {
    const vector = Buffer.from(query.buffer).toString("base64");
    return { path, body: JSON.stringify({ vector, dimension, threshold: 0 }) };
  });
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
    const vector = Buffer.from(query.buffer).toString("base64");
    const filter = filterOf(world, relation, share, variant.first + i * variant.step);
    return {
      path: PRODUCTION,
      body: JSON.stringify({ vector, dimension, threshold: 0, filter }),
    };
  });
}

interface Answers {
  readonly recall: number;
  readonly short: number;
  readonly plans: string;
}

async function answersOf(
  { server, world }: Bench,
  searches: readonly Search[],
  truth: readonly Set<number>[],
): Promise<Answers> {
  let [found, wanted, short] = [0, 0, 0];
  const plans = new Set<string>();
  for (const [i, near] of truth.entries()) {
    const { path, body } = searches[i] as Search;
    const response = await fetch(new URL(path, server.url), {
      method: "POST",
      headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
      body,
    });
    const { data } = (await response.json()) as { data: { chunk: { id: string } }[] };
    plans.add(response.headers.get("x-search-plan") ?? "");
    const ids = new Set([...near].map(chunkId));
    found += data.filter(({ chunk }) => ids.has(chunk.id)).length;
    wanted += near.size;
    if (data.length < near.size) short++;
  }
  return { recall: found / wanted, short, plans: [...plans].sort().join("+") };
}

/** Server CPU milliseconds per search, by the way it is asked for. */
async function costs({ server, world, load, options }: Bench, relation: Relation, share: number) {
  const payloads = (searches: readonly Search[]) =>
    searches.map(({ path, body }) => postRequest(server, path, world.apiKey, body));
  const { requests, rounds, cold } = options;
  const count = queriesOf(world, relation).length;
  const stored = payloads(storedSearches(world, relation, share));
  const same = { first: 0, step: 0, count };
  const warm = payloads(filteredSearches(world, relation, share, same));
  const runs = { stored: [] as number[], warm: [] as number[], cold: [] as number[] };
  for (const list of [stored, warm]) await load.run(server, CLIENTS, count, list);
  for (let round = 0; round < rounds; round++) {
    runs.stored.push((await load.run(server, CLIENTS, requests, stored)).cpu);
    runs.warm.push((await load.run(server, CLIENTS, requests, warm)).cpu);
    const other = { first: 1 + round * cold, step: 1, count: cold };
    const searches = payloads(filteredSearches(world, relation, share, other));
    runs.cold.push((await load.run(server, CLIENTS, cold, searches)).cpu);
  }
  return {
    ...{ stored: median(runs.stored), warm: median(runs.warm) },
    cold: median(runs.cold),
  };
}

/** The clock of the processor has ticks, so a few searches may take no time. */
const ratio = (cpu: number, baseline: number) =>
  baseline === 0 ? "" : (cpu / baseline).toFixed(2);

async function measureScopes(bench: Bench, out: Output) {
  const { world } = bench;
  const scopes = [];
  out.head(
    ...["matches", "share", "plan", "recall, release", "recall, filter", "short"],
    ...["release, CPU ms", "warm", "ratio", "cold", "ratio"],
  );
  for (const relation of RELATIONS) {
    for (const share of SHARES) {
      const queries = queriesOf(world, relation);
      const truth = nearestOf(world, membersOf(world, relation, share), queries);
      const same = { first: 0, step: 0, count: queries.length };
      const release = await answersOf(bench, storedSearches(world, relation, share), truth);
      const filtered = filteredSearches(world, relation, share, same);
      const filter = await answersOf(bench, filtered, truth);
      const cpu = await costs(bench, relation, share);
      out.row(
        ...[relation, `${share * 100}%`, filter.plans],
        ...[release.recall.toFixed(4), filter.recall.toFixed(4), filter.short],
        ...[cpu.stored.toFixed(3), cpu.warm.toFixed(3), ratio(cpu.warm, cpu.stored)],
        ...[cpu.cold.toFixed(3), ratio(cpu.cold, cpu.stored)],
      );
      scopes.push({ relation, share, release, filter, cpu });
    }
  }
  return scopes;
}

/** Milliseconds from the answer to a change of a file's frontmatter until a filter finds it. */
async function measureChanges({ server, world, options }: Bench): Promise<number[]> {
  const headers = { "x-api-key": world.apiKey };
  const times: number[] = [];
  for (let file = 0; file < options.changes; file++) {
    const topic = `changed-${crypto.randomUUID()}`;
    const change = `/projects/${SLUG}/files/${encodeURIComponent(pathOf(file))}?environment=production`;
    const answer = await fetch(new URL(change, server.url), {
      method: "PUT",
      headers: { ...headers, "content-type": "text/markdown" },
      body: contentOf(world, file, topic),
    });
    if (!answer.ok) throw new Error(await answer.text());
    const started = performance.now();
    const body = JSON.stringify({ filter: { "frontmatter.topic": topic } });
    const type = { "content-type": "application/json" };
    for (;;) {
      const url = new URL(`/projects/${SLUG}/knowledge/lookup`, server.url);
      const found = await fetch(url, { method: "POST", headers: { ...headers, ...type }, body });
      if (((await found.json()) as { total_matches: number }).total_matches === 1) break;
      await Bun.sleep(POLL_MS);
    }
    times.push(performance.now() - started);
  }
  return times;
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const { dataDir, env, sql } = await context.openDatabase(options.data || undefined);
  const { vectors, queries, dimension } = options;
  const world = makeFilteredWorld(vectors, options.chunks, queries, dimension);
  out.line(`${world.chunks} files of one chunk x ${dimension}, data in ${dataDir}`);
  await writeFilteredWorld(sql, world);
  const server = await context.startServer(env);
  await untilGraphed(sql, world.chunks);
  const bench: Bench = { options, world, server, load: new LoadGenerator() };
  const scopes = await measureScopes(bench, out);
  const changes = await measureChanges(bench);
  if (changes.length > 0) {
    const [middle, last] = [median(changes), quantile(changes, 1)];
    out.line(`\na change is filtered after ${middle.toFixed(0)} ms, at most ${last.toFixed(0)} ms`);
  }
  return { scopes, changes };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
