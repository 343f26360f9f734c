import { describe, expect, test } from "bun:test";
import * as capacity from "../../bench/capacity/run.ts";
import * as embedding from "../../bench/embedding/run.ts";
import * as importRun from "../../bench/import/run.ts";
import * as scopeWrites from "../../bench/import/scope-writes.ts";
import * as changes from "../../bench/knowledge/changes.ts";
import * as first from "../../bench/knowledge/first.ts";
import * as modes from "../../bench/knowledge/modes.ts";
import * as questions from "../../bench/knowledge/questions.ts";
import * as relevance from "../../bench/knowledge/relevance.ts";
import * as retrieval from "../../bench/knowledge/retrieval.ts";
import * as scale from "../../bench/knowledge/scale.ts";
import * as lookups from "../../bench/knowledge/service.ts";
import { bodiesCommand } from "../../bench/load/bodies.ts";
import { loadCommand } from "../../bench/load/options.ts";
import * as nativeSearch from "../../bench/micro/native-search.ts";
import * as shards from "../../bench/micro/shards.ts";
import * as updates from "../../bench/micro/updates.ts";
import * as failures from "../../bench/nodes/failures.ts";
import * as nodes from "../../bench/nodes/run.ts";
import * as floods from "../../bench/overload/floods.ts";
import * as inline from "../../bench/overload/inline.ts";
import * as overload from "../../bench/overload/run.ts";
import * as writes from "../../bench/overload/writes.ts";
import * as peers from "../../bench/peers/run.ts";
import * as recall from "../../bench/recall/run.ts";
import * as rest from "../../bench/rest/run.ts";
import * as filters from "../../bench/search/filters.ts";
import * as releases from "../../bench/search/releases.ts";
import * as search from "../../bench/search/run.ts";
import * as visibility from "../../bench/search/visibility.ts";
import * as soak from "../../bench/soak/run.ts";
import * as exactlyOnce from "../../bench/webhooks/exactly-once.ts";
import * as throughput from "../../bench/webhooks/throughput.ts";
import type { BenchContext } from "../../support/bench/context.ts";
import { helpText, parseOptions, type Values } from "../../support/bench/options.ts";
import { callCommand } from "../../support/processes/command.ts";
import { runCommand } from "../../support/processes/process.ts";
import { lacks } from "../../support/programs.ts";
import { inProcess } from "./in-process.ts";

/** The benchmarks that read their options themselves. The load tester, outages and first paint have tests of their own. */
const BENCHMARKS = {
  "capacity/run": capacity,
  "embedding/run": embedding,
  "import/run": importRun,
  "import/scope-writes": scopeWrites,
  "knowledge/changes": changes,
  "knowledge/first": first,
  "knowledge/modes": modes,
  "knowledge/questions": questions,
  "knowledge/relevance": relevance,
  "knowledge/retrieval": retrieval,
  "knowledge/scale": scale,
  "knowledge/service": lookups,
  "micro/native-search": nativeSearch,
  "micro/shards": shards,
  "micro/updates": updates,
  "nodes/failures": failures,
  "nodes/run": nodes,
  "overload/floods": floods,
  "overload/inline": inline,
  "overload/run": overload,
  "overload/writes": writes,
  "peers/run": peers,
  "recall/run": recall,
  "rest/run": rest,
  "search/filters": filters,
  "search/releases": releases,
  "search/run": search,
  "search/visibility": visibility,
  "soak/run": soak,
  "webhooks/exactly-once": exactlyOnce,
  "webhooks/throughput": throughput,
};

interface Benchmark<O, F> {
  readonly OPTIONS: O;
  run(options: O, context: BenchContext): Promise<F>;
}

/** Runs a benchmark in this process and returns its figures. All numbers that it prints are numbers. */
async function measure<O extends Values, F>(
  benchmark: Benchmark<O, F>,
  options: Partial<O>,
): Promise<F> {
  const { context, written } = inProcess();
  const figures = await benchmark.run({ ...benchmark.OPTIONS, ...options }, context);
  expect(written.out).not.toMatch(/NaN|undefined|Infinity/);
  expect(written.errors).toBe("");
  return figures;
}

/** A recall, so that a failure shows it. */
function expectRecall(value: number, least: number): void {
  expect(value).toBeGreaterThanOrEqual(least);
  expect(value).toBeLessThanOrEqual(1);
}

function fail(): never {
  throw new Error("a figure is missing");
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe("the import", () => {
  test("stores every chunk from either form of an embedding, and compares with bare inserts", async () => {
    const { bare, imported } = await measure(importRun, { chunks: 200, dimension: 768 });
    expect(bare).toBeGreaterThan(0);
    expect(imported.map(({ form, stored }) => [form, stored])).toEqual([
      ["base64", 200],
      ["arrays of numbers", 200],
    ]);
    const [base64, numbers] = imported.map(({ fileBytes }) => fileBytes) as [number, number];
    expect(base64).toBeGreaterThan(200 * 768 * 4 * (4 / 3));
    expect(numbers).toBeGreaterThan(base64);
  });

  test("changes of scopes are counted for each schema, beside none that has a change log", async () => {
    const figures = await measure(scopeWrites, { writers: 2, seconds: 0.1, rounds: 1 });
    const names = ["no change log", "schema 11", "this schema", "no lock"];
    expect(figures.map(({ name, statements }) => [statements, name])).toEqual(
      [1, 6].flatMap((statements) => names.map((name) => [statements, name])),
    );
    for (const { commitsPerSecond } of figures) expect(commitsPerSecond).toBeGreaterThan(0);
    for (const first of [0, 4]) expect(figures[first]?.ratio).toBe(1);
  });
});

test.skipIf(lacks("onnxruntime"))(
  "embedding is measured by batches, and what it costs others",
  async () => {
    const model = { batches: "1,4", threads: "1", texts: 8, words: 4, hidden: 48, layers: 1 };
    const options = { ...model, files: 20, puts: 1, rate: 10, seconds: 0.5 };
    const { speeds, lags, beside } = await measure(embedding, options);
    expect(speeds.map(({ batch, speeds: [speed] }) => [batch, speed! > 0])).toEqual([
      [1, true],
      [4, true],
    ]);
    expect(lags.every(({ median, most }) => median > 0 && most >= median)).toBe(true);
    expect(beside.map(({ before, left }) => left <= before)).toEqual([true, true]);
  },
);

describe("lookups", () => {
  test("memory is noted after every tenth of the changes, in which no file is lost or doubled", async () => {
    const points = await measure(changes, { changes: 20, files: 5 });
    expect(points.map((point) => point.changes)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    for (const { items, indexBytes, anonymousBytes } of points) {
      expect(items).toBe(5);
      expect(anonymousBytes).toBeGreaterThan(indexBytes);
    }
  });

  test("relevance is that of the same queries in every system, and judged queries find what is relevant", async () => {
    const folder = "test/fixtures/judged";
    const { knownItems, judged } = await measure(relevance, { queries: 5, judged: folder });
    expect(knownItems.queries).toBe(30);
    const [[own, measured] = ["", { all: 0, byKind: {} }]] = knownItems.systems;
    expect(own).toBe("Tessera");
    expect(measured.all).toBeCloseTo(sum(Object.values(measured.byKind)) / 6);
    expectRecall(measured.all, 0.8);
    expect(knownItems.systems).toHaveLength(6);
    for (const [, { all }] of knownItems.systems) expect(all).toBeLessThanOrEqual(measured.all);
    expect(judged).toEqual([
      expect.objectContaining({ collection: "judged", documents: 3, queries: 2 }),
    ]);
    const [[, ndcg] = ["", 0], ...others] = judged[0]?.systems ?? [];
    expect(ndcg).toBe(1);
    expect(others).toHaveLength(5);
  });

  test("questions of every language find the page that they are about, and nearly always in first place", async () => {
    const { rows, costs } = await measure(questions, { queries: 3, documents: 100, repeats: 1 });
    expect(new Set(rows.map(({ language }) => language)).size).toBe(26);
    expect(rows).toHaveLength(3 * 26);
    for (const row of rows) {
      expect([row, row.atAll]).toEqual([row, 1]);
      expect(row.firstPage).toBeGreaterThanOrEqual(row.first);
    }
    expectRecall(sum(rows.map(({ first }) => first)) / rows.length, 0.9);
    expect(costs.map(({ kind }) => kind)).toEqual(["titles", "questions", "pasted text"]);
  });

  test("retrieval is measured by text, by vector and by both, with known items and judged queries", async () => {
    const options = { queries: 5, judged: "test/fixtures/judged", dimension: 4 };
    const [known, judged] = await measure(retrieval, options);
    expect(known).toMatchObject({ queries: 30, measure: "MRR" });
    expectRecall(known?.byMode.hybrid ?? 0, 0.9);
    expect(known?.byMode.hybrid).toBeGreaterThan(known?.byMode.semantic ?? 1);
    expect(judged).toMatchObject({ collection: "judged", documents: 3, measure: "nDCG@10" });
    expect(judged?.byMode).toEqual({ keyword: 1, semantic: 1, hybrid: 1 });
  });

  test("the text core finds and lists all documents, before and after a merge", async () => {
    const { documents, browsing } = await measure(scale, { documents: 100, items: 200 });
    expect(documents).toMatchObject({ documents: 100, merged: 120 });
    expect(documents.tokens).toBeGreaterThan(100);
    expect(documents.one.found).toBe(documents.queries);
    expect(documents.two.found).toBe(documents.queries);
    expect(browsing.listed).toBe(200);
    expect(browsing.pageTimes).toHaveLength(17);
  });

  test("everything that was written and imported is searchable, also after a start from the snapshot", async () => {
    const options = { documents: 40, imported: 40, items: 100, requests: 20 };
    const figures = await measure(lookups, options);
    expect(figures.loading.changes).toBeGreaterThan(0);
    expect(figures.snapshot.documents).toBeGreaterThanOrEqual(40);
    expect(figures.lookups).toHaveLength(2);
    for (const { qps, p50, p99 } of figures.lookups) {
      expect(qps).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50);
    }
    expect(figures.browsing.pages).toBe(Math.ceil(100 / 12));
    expect(figures.browsing.changes).toBeGreaterThan(0);
  });

  test("different queries are answered from the first of a start on, and again", async () => {
    const results = await measure(first, { documents: "40", requests: 25 });
    expect(results.map(({ count, queries }) => [count, queries])).toEqual([[40, 25]]);
    for (const { first, again, baseline } of results) {
      for (const { times } of [first, again, baseline]) {
        expect(times).toHaveLength(25);
        expect(Math.min(...times)).toBeGreaterThan(0);
      }
    }
  });

  test("searches, lookups and the modes of retrieval are measured with the same clients", async () => {
    const figures = await measure(modes, { requests: 10, rounds: 1, clients: "1,2" });
    const names = ["search", "lookup", "semantic", "keyword", "hybrid"] as const;
    expect(figures.map(({ clients, operation }) => [clients, operation])).toEqual(
      [1, 2].flatMap((clients) => names.map((name) => [clients, name])),
    );
    for (const { qps, p50, p99 } of figures) {
      expect(qps).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50);
    }
  });
});

describe("the native search core", () => {
  test("recall is measured in every scope, and is the same after a snapshot is restored", async () => {
    const options = { vectors: 500, dimension: 768, queries: 20 };
    const { scopes, bytes, snapshot, baseline } = await measure(nativeSearch, options);
    expect(scopes.map(({ share }) => share)).toEqual([1, 0.5, 0.1, 0.02, 0.005]);
    for (const { recall, search } of scopes) {
      expectRecall(recall, 0.99);
      expect(search).toBeGreaterThan(0);
    }
    expect(scopes.at(-1)).toMatchObject({ plan: "exact", recall: 1 });
    expect(snapshot.recall).toBe(scopes[0]?.recall as number);
    // The vectors are stored in two bytes per element, for each of which there is a code.
    expect(bytes["vectors"]).toBeGreaterThanOrEqual(500 * 768 * 2);
    expect(bytes["codes"]).toBeGreaterThan(0);
    expectRecall(baseline?.recall ?? 0, 0.9);
  });

  test("every size of a shard has as many shards as it needs, with one recall", async () => {
    const options = { vectors: 600, shards: "600,250", queries: 10 };
    const { all, yardstick } = await measure(shards, options);
    expect(all.map((figures) => figures.shards)).toEqual([1, 3]);
    expect(yardstick.adding.cpu).toBeGreaterThan(0);
    // Several threads add to raw USearch's graph in any order, so its recall varies.
    expectRecall(yardstick.points.at(-1)?.recall ?? 0, 0.9);
    for (const { recall, restoredRecall, overhead, idle, helped, building } of all) {
      expectRecall(recall, 0.99);
      expect(restoredRecall).toBe(recall);
      expect(overhead).toBeGreaterThan(0);
      expect([idle.length, helped.length]).toEqual([10, 10]);
      expect(building?.length).toBeGreaterThan(0);
    }
  });

  test("replaced files leave the index once maintenance has ended", async () => {
    const options = { files: 500, updates: 2_000, transaction: 100 };
    const { fresh, updated } = await measure(updates, options);
    expect(fresh.entries).toBe(500);
    expect(updated.entries).toBeGreaterThanOrEqual(500);
    expect(updated.entries).toBeLessThan(500 + 2_000);
    expect(updated.bytes / fresh.bytes).toBeLessThan(2);
  });

  test("recall of all data, orders, scopes and limits is measured against brute force", async () => {
    const data = ["clusters", "uniform", "duplicates", "text", "encoder"];
    const all = await measure(recall, { vectors: "200", count: 5 });
    expect(all.map((figures) => figures.data)).toEqual(data);
    for (const { data, rows, baselines } of all) {
      // Three orders, two arrivals, five scopes and two limits for each kind of query.
      const kinds = data === "text" || data === "encoder" ? 2 : 1;
      expect(rows).toHaveLength(3 * 2 * 5 * 2 * kinds);
      const lowest = rows.reduce((a, b) => (b.recall < a.recall ? b : a));
      expectRecall(lowest.recall, 0.9);
      expect(baselines.size).toBe(2 * kinds);
      for (const points of baselines.values()) expectRecall(points.at(-1)?.recall ?? 0, 0.9);
    }
  });
});

describe("vector search", () => {
  const SMALL = { chunks: 400, dimension: 768, queries: 10 };

  test("with filters is as over releases with the same members, and changes are filtered", async () => {
    const options = { chunks: 200, queries: 4, requests: 10, rounds: 1, cold: 3, changes: 2 };
    const { scopes, changes } = await measure(filters, options);
    expect(scopes).toHaveLength(12);
    for (const { release, filter, cpu } of scopes) {
      for (const { recall, short } of [release, filter]) {
        expectRecall(recall, 0.98);
        expect(short).toBe(0);
      }
      expect(Object.values(cpu).every((value) => value >= 0)).toBe(true);
    }
    expect(changes).toHaveLength(2);
  });

  test("over HTTP, recall is that of brute force in every scope, also after a restart", async () => {
    const figures = await measure(search, { ...SMALL, requests: 40, rounds: 1 });
    expectRecall(figures.recall, 0.98);
    // The smallest scope is left out: it has none of so few files.
    expect(figures.scopes.map(({ share }) => share)).toEqual([1, 0.5, 0.1, 0.02]);
    for (const { recall, short } of figures.scopes) {
      expectRecall(recall, 0.98);
      expect(short).toBe(0);
    }
    expect(figures.scopes[0]?.recall).toBe(figures.recall);
    expect(figures.costs?.restartedRecall).toBe(figures.recall);
    expect(figures.costs?.indexBytes).toBeGreaterThan(400 * 768 * 2);
    for (const { recall, buildSeconds } of figures.baselines) {
      expectRecall(recall, 0.9);
      expect(buildSeconds).toBeGreaterThan(0);
    }
    const forms = ["JSON array", "base64", "octets"];
    const { many, one } = figures.compared;
    expect([...many.keys()]).toEqual(["bare server, JSON array", ...forms]);
    for (const form of forms) {
      for (const { native, p50 } of [...(many.get(form) ?? []), ...(one.get(form) ?? [])]) {
        expect(native).toBeGreaterThan(0);
        expect(p50).toBeGreaterThan(native / 100);
      }
    }
  });

  test("more releases of the same files take less memory than the files", async () => {
    const options = { chunks: 100, dimension: 768, releases: 5, settle: 0.6 };
    const { few, many } = await measure(releases, options);
    expect(few.index).toBeGreaterThan(100 * 768 * 2);
    expect(many.index / few.index).toBeGreaterThanOrEqual(1);
    expect(many.index / few.index).toBeLessThan(1.5);
  });

  test("every commit becomes visible, in the project that imports and in others", async () => {
    const options = { chunks: 300, dimension: 768, transaction: 100, after: 0.1 };
    const { bulk, others, transactions, storedChunks } = await measure(visibility, options);
    expect([bulk.times.length, transactions.length]).toEqual([3, 3]);
    const small = others.map(({ times }) => times.length);
    for (const count of small) expect(count).toBeGreaterThan(0);
    expect(storedChunks).toBe(300 + sum(small));
  });

  test("searches on the main thread are compared by what they do to other requests", async () => {
    const figures = await measure(inline, {
      ...{ chunks: 200, dimension: 768, bounds: "0,1", seconds: 0.5, rounds: 1 },
    });
    expect(figures.map(({ bound }) => bound)).toEqual(["0", "1"]);
    expect(figures[0]?.ratio).toBe(1);
    for (const { searchesPerSecond, aloneP50 } of figures) {
      expect(searchesPerSecond).toBeGreaterThan(0);
      expect(aloneP50).toBeGreaterThan(0);
    }
  });

  test("answers, refusals and failures of an overload are counted apart, per user", async () => {
    const options = { chunks: 200, dimension: 768, seconds: 0.5, clients: 20, shares: "0.8,5" };
    const { goodputs, fairness } = await measure(overload, options);
    expect(goodputs).toHaveLength(3);
    for (const { name, capacity, result } of goodputs) {
      expect(capacity, name).toBeGreaterThan(0);
      // A busy machine may answer none of them.
      expect(result.answered + result.refused + result.unsent, name).toBeGreaterThan(0);
    }
    const kinds = fairness.map(({ name }) => name.split(":")[0]);
    expect(kinds).toEqual(["alone", "beside a flood", "beside a flood"]);
    for (const { name, result } of [...goodputs, ...fairness]) {
      expect([result.latencies.length, result.failed], name).toEqual([result.answered, 0]);
    }
  });

  test("a modest user's searches are counted beside each flood, and the flood's answers apart", async () => {
    const names = "none;search;lookup, words;writes of files;unknown paths;metrics";
    const few = { chunks: 200, clients: 2, rate: 50, seconds: 1, modest: "retrieve" };
    const figures = await measure(floods, { ...few, floods: names.replace("none;", "") });
    expect(figures.map(({ name }) => name).join(";")).toBe(names);
    for (const { name, result, flooded = { answered: 1, failed: 0 } } of figures) {
      expect(result.answered, name).toBeGreaterThan(0);
      // An unknown path is a failure for its client.
      expect(flooded.answered + flooded.failed, name).toBeGreaterThan(0);
    }
    expect((await measure(writes, { seconds: 0.5, bytes: 20_000 })).waiting).toBe(0);
  });

  test.skipIf(lacks("nginx"))(
    "nodes behind a balancer share projects and searches without a remainder",
    async () => {
      const options = { projects: 3, chunks: 40, searches: 24, nodes: 2 };
      const { fleets } = await measure(nodes, options);
      const [one, two] = fleets;
      expect(one?.nodes.map(({ projects, searches }) => [projects, searches])).toEqual([[3, 24]]);
      expect(two?.nodes).toHaveLength(2);
      expect(sum(two?.nodes.map(({ projects }) => projects) ?? [])).toBe(3);
      expect(sum(two?.nodes.map(({ searches }) => searches) ?? [])).toBe(24);
      expect(two?.times).toHaveLength(24);
    },
  );

  test.skipIf(lacks("nginx"))(
    "the death and the replacement of nodes fail no search of projects by Zipf's law",
    async () => {
      const options = { projects: 3, chunks: 20, nodes: 2, rate: 20, seconds: 1, part: 1 };
      const { loads, death, upgrade } = await measure(failures, options);
      expect(loads.map(({ place }) => place)).toEqual([
        "PostgreSQL",
        "own snapshot",
        "shared snapshot",
      ]);
      for (const { times } of loads) expect(times).toHaveLength(3);
      // Only a node without any snapshot reads the chunks.
      expect(loads.map(({ chunks }) => chunks > 0)).toEqual([true, false, false]);
      expect(death).toHaveLength(3);
      for (const { searches, refused, failed } of [...death, upgrade]) {
        expect(searches).toBeGreaterThan(0);
        expect([refused, failed]).toEqual([0, 0]);
      }
    },
  );

  test("a mix of all requests is answered without a failure, and sampled meanwhile", async () => {
    const options = { minutes: 0.015, sample: 0.1, projects: 2, files: 10 };
    const { samples, trends, counts } = await measure(soak, options);
    expect(counts.failures).toEqual([]);
    expect([...counts.answered.keys()].sort()).toEqual([
      "delivery",
      "import",
      "key",
      "lookup",
      "release",
      "retrieval",
      "search",
    ]);
    expect(samples.length).toBeGreaterThanOrEqual(3);
    const { minutes, ...series } = samples.at(-1) as (typeof samples)[number];
    expect(minutes).toBeGreaterThan(0);
    expect(trends.map(({ name }) => name).sort()).toEqual(Object.keys(series).sort() as never);
    const { anonymous, scripts, code, arenas, columns } = series;
    expect(scripts + code + arenas + columns).toBeGreaterThan(anonymous * 0.5);
  });
});

describe("the other operations", () => {
  test("reads are measured beside a bare handler with the same SQL", async () => {
    const reads = await measure(rest, { seconds: 0.05, rounds: 1 });
    expect(reads.map(({ name }) => name)).toEqual(["conversation", "message", "tree of 1,000"]);
    for (const { own, bare } of reads) {
      for (const [run] of [own, bare]) expect(run?.requestsPerSecond).toBeGreaterThan(0);
    }
  });

  test.skipIf(lacks("redis-server"))(
    "deliveries are stored by every server that is compared, with a message and a run each",
    async () => {
      const { servers, stored } = await measure(throughput, { seconds: 0.05, rounds: 1 });
      expect(servers).toHaveLength(4);
      for (const { runs } of servers) expect(runs[0]?.requestsPerSecond).toBeGreaterThan(0);
      expect(stored.events).toBeGreaterThan(0);
      expect(new Set(Object.values(stored)).size).toBe(1);
    },
  );

  test.skipIf(lacks("redis-server"))(
    "deliveries through two servers are stored exactly once while servers fail",
    async () => {
      const figures = await measure(exactlyOnce, { deliveries: 200 });
      expect(figures).toMatchObject({ deliveries: 200, keys: 161, causedFaults: 4 });
      expect(figures.stored).toEqual({ events: 161, messages: 161, runs: 161, keys: 161 });
      expect(Object.values(figures.faults)).toEqual([0, 0, 0, 0]);
      expect(sum(Object.values(figures.answers))).toBe(figures.requests);
      expect(figures.requests).toBeGreaterThanOrEqual(200);
    },
  );
});

describe("the simulation of fleets", () => {
  const EQUAL = { sizes: 0, popularity: 0, vectors: "" };

  test("computes memory, processor time and cost of a lone node as one does by hand", async () => {
    const { steps } = await measure(capacity, { ...EQUAL, steps: "2x24996" });
    const [{ fleet, projects, cpu, counted, gib, perHour, perMillion, met, death } = fail()] =
      steps;
    expect(fleet).toMatchObject({ places: 1, replicas: 1, gib: 16 });
    expect([met, death]).toEqual([[], undefined]);
    expect(projects.map(({ vectors, rate }) => [vectors, rate])).toEqual(
      Array(2).fill([24_996, 10]),
    );
    // 544 bytes and a quarter of a document each, 0.062 ms for a request and 0.096 for its walk.
    expect(projects[0]?.hot).toBeCloseTo(24_996 * (544 + 3_482 / 4), 3);
    expect(cpu).toBeCloseTo(0.000_158, 9);
    expect(counted).toBeCloseTo(2 * 24_996 * (544 + 3_482 / 4 + 3_822), 3);
    const disk = 2 * 24_996 * (544 + 3_482 / 4 + 3_822 + 5_072);
    expect(perHour).toBeCloseTo(gib * (0.004 + 0.03 / 8) + (disk / 1e9) * (0.1 / 730), 9);
    expect(perMillion).toBeCloseTo((perHour / (20 * 3_600)) * 1e6, 6);
  });

  test("names the first bottleneck of each step, and leaves none that a larger fleet removes", async () => {
    const steps = "1x1000,2x1000,4x1000000,40x1000000";
    const figures = await measure(capacity, { ...EQUAL, steps });
    const first = figures.steps.map(({ met }) => met[0]?.name);
    expect(first.slice(0, 3)).toEqual([
      ...[undefined, "a node's death", "reading a dead node's projects from PostgreSQL"],
    ]);
    const memory = figures.steps.map(({ gib }) => gib);
    expect(memory).toEqual(memory.toSorted((a, b) => a - b));
    for (const { open, projects, fleet } of figures.steps) {
      expect(open).toEqual([]);
      const hot = sum(projects.map((project) => project.hot));
      expect(fleet.places * fleet.gib * 2 ** 30 * 0.6).toBeGreaterThan(hot);
    }
  });

  test("plays a death: a partner answers all, an heir refuses what it has to read for too long", async () => {
    const steps = "1x1000,8x200000";
    const one = await measure(capacity, { ...EQUAL, steps, recovery: 3_600 });
    const two = await measure(capacity, { ...EQUAL, steps, recovery: 1 });
    const [heir, partner] = [one, two].map((figures) => figures.steps[1]?.death ?? fail());
    expect(heir?.before.refused).toBe(0);
    expect(heir?.after.refused).toBeGreaterThan(0);
    expect(heir?.loaded).toBeGreaterThanOrEqual(200_000 / 4_000);
    expect(partner).toMatchObject({ loaded: 0, after: { refused: 0 } });
    expect(partner?.after.answered).toBeGreaterThan(1.5 * (partner?.before.answered ?? 0));
  });

  test("divides one project over servers, and says what no fleet of them removes", async () => {
    const options = { steps: "", vectors: "24000,1000000000", fill: 1 };
    const { vectors } = await measure(capacity, options);
    const [small = fail(), large = fail()] = vectors;
    expect(small.fleet.placements).toBe(1);
    expect(small.cpu).toBeCloseTo(0.00306, 9);
    expect(large.fleet.placements).toBeGreaterThan(1);
    expect(large.cpu / large.fleet.placements).toBeGreaterThan(small.cpu);
    expect(large.open.map(({ name }) => name)).toEqual(["the first fill"]);
  });
});

describe("the command line of benchmarks", () => {
  test("lists all that are tested, each with what it measures", async () => {
    const lines = (await callCommand(["bench"])).stdout.trimEnd().split("\n");
    const names = lines.map((line) => line.split(" ", 1)[0] ?? "");
    const others = ["console/first-paint", "load/bodies", "load/run", "nodes/outages"];
    expect(names).toEqual([...Object.keys(BENCHMARKS), ...others].sort());
    for (const line of lines) expect(line).toMatch(/^\S+ {2,}[A-Z].+/);
  });

  test("has a help for each that names all options", () => {
    for (const [name, { OPTIONS }] of Object.entries(BENCHMARKS)) {
      const help = helpText(`bench/${name}.ts`);
      expect(help).toContain(`bun bench/${name}.ts`);
      for (const option of Object.keys(OPTIONS)) {
        expect(help, name).toMatch(new RegExp(`--(no-)?${option}\\b`));
      }
    }
    for (const command of [bodiesCommand(), loadCommand()]) {
      expect(command.helpInformation()).toContain("--queries <file>");
    }
  });

  test("gives options the types of their defaults, and names a wrong one", () => {
    const defaults = { seconds: 2, data: "text", baseline: true, brief: false };
    expect(parseOptions(defaults, [])).toEqual(defaults);
    const args = ["--seconds", "0.5", "--data=sparse", "--no-baseline", "--brief"];
    expect(parseOptions(defaults, args)).toEqual({
      ...{ seconds: 0.5, data: "sparse", baseline: false, brief: true },
    });
    expect(() => parseOptions(defaults, ["--seconds", "soon"])).toThrow(
      '--seconds needs a number, not "soon"',
    );
    expect(() => parseOptions(defaults, ["--bogus"])).toThrow("Unknown option '--bogus'");
  });

  test("runs one as a program, and explains wrong options with its help", async () => {
    const args = ["--files", "50", "--updates", "100"];
    const { status, stdout, stderr } = await runCommand(["bench", "micro/updates", ...args]);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^\| after 100 updates \| \d+ \| \d+ \| \d+ \|$/m);
    const wrong = await runCommand(["bench", "rest/run", "--bogus"]);
    expect(wrong.status).not.toBe(0);
    expect(wrong.stderr).toContain("Unknown option '--bogus'");
    expect(wrong.stderr).toContain(helpText("bench/rest/run.ts"));
    expect(wrong.stderr).not.toContain("at readOptions");
  });
});
