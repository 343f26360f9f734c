import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { randomNumbers } from "../../support/random.ts";
import { makeVectors } from "../../support/vectors.ts";
import { searchJson, searchVector } from "./searches.ts";
import {
  appendAll,
  buildGraph,
  dropProjects,
  freshProject,
  idsOf,
  opened,
  recall,
  setScope,
  textOf,
  trueHits,
  upTo,
  vectorAt,
} from "./support.ts";

const decoder = new TextDecoder();
const at = (vectors: Float32Array<ArrayBuffer>, dimension: number, row: number) =>
  vectorAt(vectors, row, dimension);

/** Some vectors of a scope reach threshold 1 for themselves. */
function expectThemselves(
  project: string,
  scope: string,
  vectors: Float32Array<ArrayBuffer>,
  dimension: number,
): void {
  for (let row = 0; row < 50; row++) {
    const query = at(vectors, dimension, row).map((value) => value * 3.7);
    const { ordinals, scores } = testing.searchRaw(project, scope, query, dimension, 10, 1);
    expect(Array.from(ordinals)).toContain(row);
    expect(scores[0]).toBe(1);
  }
}

afterAll(dropProjects);

describe("small indexes", () => {
  test("a search of a small index finds what brute force in JavaScript finds", () => {
    const dimension = 768;
    const vectors = makeVectors("clusters", 500, dimension, 3);
    // Vectors may have any norm, and several chunks may have the same vector.
    for (let i = 0; i < dimension * 100; i++) vectors[i] = (vectors[i] as number) * 37;
    vectors.copyWithin(dimension * 200, dimension * 100, dimension * 150);
    const project = opened();
    appendAll(project, dimension, vectors, 0, true);
    const ids = idsOf(0, 500, true);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(499), { maxLength: 300 }),
        fc.nat(499),
        fc.integer({ min: 1, max: 100 }),
        fc.constantFrom(-1, 0, 0.3, 0.7, 0.9),
        (members, row, limit, threshold) => {
          setScope(project, "some", dimension, members);
          const query = at(vectors, dimension, row);
          const truth = trueHits(vectors, ids, members, query, limit, threshold);
          const exact = testing.exactSearch(project, "some", query, dimension, limit, threshold);
          expect(Array.from(exact.ordinals)).toEqual(truth.map((hit) => hit.ordinal));
          for (const [i, hit] of truth.entries()) {
            expect(exact.scores[i]).toBeCloseTo(hit.score, 9);
          }
          const answer = testing.searchRaw(project, "some", query, dimension, limit, threshold);
          expect(answer.ordinals.length).toBe(exact.ordinals.length);
          const same = answer.ordinals.filter((ordinal, i) => ordinal === exact.ordinals[i]).length;
          expect(same).toBeGreaterThanOrEqual(Math.floor(truth.length * 0.95));
        },
      ),
      { numRuns: 80 },
    );
  });

  test.each([50, 1_200])(
    "each of %d stored vectors reaches threshold 1 for itself, whatever its length is",
    (count) => {
      const dimension = 768;
      const project = opened();
      const vectors = makeVectors("text", count, dimension, 9);
      appendAll(project, dimension, vectors);
      setScope(project, "some", dimension, upTo(count));
      expectThemselves(project, "some", vectors, dimension);
    },
  );

  test("the response is complete JSON with the chunks as they were rendered, best first", () => {
    const dimension = 1024;
    const vectors = makeVectors("uniform", 50, dimension, 4);
    const project = opened();
    appendAll(project, dimension, vectors);
    setScope(project, "all", dimension, upTo(50));
    const query = at(vectors, dimension, 7);
    const path = '/projects/a"b\\c\n/é';
    const body = new TextEncoder().encode(
      JSON.stringify({ vector: Array.from(query), dimension, limit: 3, threshold: 0 }),
    );
    const outcome = searchJson(project, "all", body, path) as Uint8Array;
    const response = JSON.parse(decoder.decode(outcome));
    expect(Object.keys(response)).toEqual(["data", "page_info", "search_time_ms", "total_matches"]);
    expect(response.page_info).toEqual({ self: path, first: null, next: null, prev: null });
    expect(response.data[0].chunk).toEqual(JSON.parse(textOf(7)));
    expect(response.data[0].score).toBeCloseTo(1, 12);
    expect(response.data[0].match_type).toBe("semantic");
    expect(response.total_matches).toBeGreaterThanOrEqual(response.data.length);
    const truth = testing.exactSearch(project, "all", query, dimension, 3, 0);
    expect(response.data.map((hit: { score: number }) => hit.score)).toEqual(
      Array.from(truth.scores),
    );
    const same = searchVector(project, "all", query, dimension, 3, 0, path) as Uint8Array;
    expect(JSON.parse(decoder.decode(same)).data).toEqual(response.data);
    const bytes = new Uint8Array(query.length * 4 + 1);
    bytes.set(new Uint8Array(query.buffer), 1);
    const unaligned = searchVector(project, "all", bytes.subarray(1), dimension, 3, 0, path);
    expect(JSON.parse(decoder.decode(unaligned as Uint8Array)).data).toEqual(response.data);
  });

  test("a search reports whether the scope is not loaded or the body is not a search", () => {
    const project = opened();
    native.setScope(project, "here", []);
    const query = makeVectors("uniform", 1, 768, 5);
    const body = new TextEncoder().encode(
      JSON.stringify({ vector: Array.from(query), dimension: 768 }),
    );
    expect(searchJson("nowhere", "here", body, "/")).toBe(native.NOT_LOADED);
    expect(searchJson(project, "gone", body, "/")).toBe(native.NOT_LOADED);
    expect(searchJson(project, "here", body.subarray(1), "/")).toEqual({ body: "json" });
    expect(native.hasScope(project, "here")).toBe(true);
    native.dropScope(project, "here");
    expect(native.hasScope(project, "here")).toBe(false);
    native.dropProject(project);
    expect(native.stats(project)).toBeNull();
  });

  test("arguments of a wrong shape throw and change nothing", async () => {
    const project = opened();
    const dimension = 768;
    const vectors = makeVectors("uniform", 2, dimension, 6);
    const good = {
      ids: idsOf(0, 2),
      vectors,
      rendered: new TextEncoder().encode("{}{}"),
      renderedEnds: Uint32Array.of(2, 4),
    };
    const zero = vectors.slice();
    zero.fill(0, dimension);
    const infinite = vectors.slice();
    infinite[9] = Number.POSITIVE_INFINITY;
    const bad: Record<string, unknown>[] = [
      { ids: good.ids.subarray(1) },
      { ids: [1, 2] },
      { vectors: vectors.subarray(1) },
      { vectors: zero },
      { vectors: infinite },
      { vectors: new Float64Array(2 * dimension) },
      { renderedEnds: Uint32Array.of(2, 5) },
      { renderedEnds: Uint32Array.of(2, 3) },
      { renderedEnds: Uint32Array.of(4, 2) },
      { renderedEnds: Uint32Array.of(2) },
      { rendered: "{}{}" },
    ];
    for (const change of bad) {
      const batch = { ...good, ...change } as unknown as native.AppendBatch;
      expect(() => native.append(project, dimension, batch)).toThrow(TypeError);
    }
    expect(() => native.append(project, 100, good)).toThrow(TypeError);
    expect(native.append(project, dimension, good)).toEqual(Uint32Array.of(0, 1));
    expect(() => setScope(project, "far", dimension, [2])).toThrow(RangeError);
    expect(native.hasScope(project, "far")).toBe(false);
    setScope(project, "near", dimension, [0, 1]);
    expect(() => searchVector(project, "near", vectors, dimension, 1, 0, "/")).toThrow(TypeError);
    const query = at(vectors, dimension, 0);
    for (const limit of [0, 101, 1.5, Number.NaN]) {
      expect(() => searchVector(project, "near", query, dimension, limit, 0, "/")).toThrow(
        TypeError,
      );
    }
    await expect(native.maintain(project, dimension, Uint32Array.of(1), 1)).rejects.toThrow(
      TypeError,
    );
    await expect(native.maintain(project, dimension, new Uint32Array(0), 0)).rejects.toThrow(
      TypeError,
    );
    expect(native.commitCompaction(project)).toBeNull();
    expect(() => native.unlockFile(3)).toThrow();
  });
});

/** Members of two tight clusters in turn, and queries near the middle between them. */
function twoClusters(members: number, dimension: number, spread: number, seed: number) {
  const random = randomNumbers(seed);
  const direction = () => {
    const vector = Float32Array.from(
      { length: dimension },
      () => random() + random() + random() - 1.5,
    );
    const length = Math.hypot(...vector);
    return vector.map((element) => element / length);
  };
  const sum = (a: Float32Array, b: Float32Array, share: number) =>
    a.map((element, i) => element + share * (b[i] as number));
  const centres = [direction(), direction()] as const;
  const vectors = new Float32Array(members * dimension);
  for (let i = 0; i < members; i++) {
    vectors.set(sum(centres[i % 2] as Float32Array, direction(), spread), i * dimension);
  }
  const middle = sum(...centres, 1);
  const queries = [0, 0.01, 0.02, 0.04, 0.08, 0.16].map((noise) => sum(middle, direction(), noise));
  return { vectors, queries };
}

test("between two tight clusters of a small scope, nearly all of the best are found", () => {
  const [dimension, members] = [768, 200];
  // Seeds with estimates that err far, so that one of the clusters seems better than it is.
  const seeds = [...upTo(20).map((i) => 61 + i), ...upTo(15).map((i) => 101 + i)];
  let [found, wanted] = [0, 0];
  for (const seed of seeds) {
    const { vectors, queries } = twoClusters(members, dimension, 0.03, seed);
    const project = opened();
    appendAll(project, dimension, vectors);
    setScope(project, "two", dimension, upTo(members));
    for (const query of queries) {
      for (const limit of [10, 50]) {
        const exact = testing.exactSearch(project, "two", query, dimension, limit, 0).ordinals;
        const best = new Set(exact);
        const { ordinals } = testing.searchRaw(project, "two", query, dimension, limit, 0);
        found += ordinals.filter((ordinal) => best.has(ordinal)).length;
        wanted += best.size;
      }
    }
    native.dropProject(project);
  }
  expect(found / wanted).toBeGreaterThanOrEqual(0.99);
});

test("of groups of similar vectors the nearest are found, although their estimates err more than they differ", () => {
  const [dimension, groups, groupSize, noise] = [768, 210, 20, 0.2];
  const count = groups * groupSize;
  const centres = makeVectors("uniform", groups, dimension, 7);
  const others = makeVectors("uniform", count + groups, dimension, 8);
  const member = (number: number) => {
    const other = at(others, dimension, number);
    return at(centres, dimension, number % groups).map(
      (element, i) => element + noise * (other[i] as number),
    );
  };
  const vectors = new Float32Array(count * dimension);
  for (const number of upTo(count)) vectors.set(member(number), number * dimension);
  const project = opened();
  appendAll(project, dimension, vectors);
  buildGraph(project, dimension);
  setScope(project, "all", dimension, upTo(count));
  const queries = upTo(groups).map((group) => member(count + group));
  const { recall: found, plans } = recall(project, "all", dimension, queries, 10);
  expect([...plans]).toEqual(["graph"]);
  expect(found).toBeGreaterThanOrEqual(0.998);
  native.dropProject(project);
});

describe("an index with a graph", () => {
  const dimension = 768;
  /** Just above the size from which indexes have a graph, to save time; more data is in test/long/recall. */
  const count = 4200;
  const later = 200;
  const project = freshProject();
  const vectors = makeVectors("clusters", count + later + 25, dimension, 7);
  const queries = upTo(25).map((i) => at(vectors, dimension, count + later + i));
  beforeAll(() => {
    native.openProject(project);
    appendAll(project, dimension, vectors.slice(0, count * dimension));
    buildGraph(project, dimension);
    expect(native.stats(project)?.dimensions[0]?.graphed).toBe(count);
  });

  test("recall is high in scopes of any size and at any limit, and no answer is short", () => {
    const random = randomNumbers(8);
    const seen = new Set<string>();
    for (const share of [1, 0.5, 0.1, 0.02, 0.005]) {
      const members = upTo(count).filter(() => random() < share);
      setScope(project, "some", dimension, members);
      for (const limit of [1, 10, 50, 100]) {
        const { recall: found, plans, short } = recall(project, "some", dimension, queries, limit);
        const searches = `share ${share}, limit ${limit}`;
        expect(found, `recall, ${searches}`).toBeGreaterThanOrEqual(0.98);
        expect(short, `short answers, ${searches}`).toBe(0);
        for (const plan of plans) seen.add(plan);
      }
    }
    expect(seen).toEqual(new Set(["graph", "scan", "exact"]));
  });

  test("each stored vector reaches threshold 1 for itself, whatever its length is", () => {
    setScope(project, "all", dimension, upTo(count));
    expectThemselves(project, "all", vectors, dimension);
  });

  test("a scope far from the query is answered in full although the graph leads elsewhere", () => {
    let found = 0;
    setScope(project, "all", dimension, upTo(count));
    for (const query of queries) {
      const near = testing.exactSearch(project, "all", query, dimension, 100, -1).ordinals;
      const excluded = new Set(near);
      const members = upTo(count).filter((ordinal) => !excluded.has(ordinal));
      setScope(project, "rest", dimension, members);
      const answer = recall(project, "rest", dimension, [query]);
      expect(answer.short).toBe(0);
      found += answer.recall / queries.length;
    }
    expect(found).toBeGreaterThanOrEqual(0.95);
  });

  test("chunks that are not in the graph yet are found", () => {
    appendAll(
      project,
      dimension,
      vectors.slice(count * dimension, (count + later) * dimension),
      count,
    );
    setScope(project, "all", dimension, upTo(count + later));
    const plans = new Set<string>();
    for (let i = count; i < count + later; i += 10) {
      const query = at(vectors, dimension, i);
      const answer = testing.searchRaw(project, "all", query, dimension, 5, 0.5);
      expect(answer.ordinals[0]).toBe(i);
      plans.add(answer.plan);
    }
    expect(plans).toContain("graph");
    expect(native.stats(project)?.dimensions[0]?.graphed).toBe(count);
    buildGraph(project, dimension);
    expect(native.stats(project)?.dimensions[0]?.graphed).toBe(count + later);
  });

  test("chunks with equal vectors share one stored vector, are all found, and are ordered by id", () => {
    const dimension = 768;
    const project = opened();
    const distinct = makeVectors("clusters", 30, dimension, 10);
    const copies = 200;
    const vectors = new Float32Array(30 * copies * dimension);
    for (let i = 0; i < 30 * copies; i++)
      vectors.set(at(distinct, dimension, i % 30), i * dimension);
    appendAll(project, dimension, vectors, 0, true);
    buildGraph(project, dimension);
    expect(native.stats(project)?.dimensions[0]).toMatchObject({ vectors: 6000, distinct: 30 });
    setScope(project, "all", dimension, upTo(6000));
    const query = at(distinct, dimension, 4);
    const answer = testing.searchRaw(project, "all", query, dimension, 100, 0);
    const twins = upTo(6000).filter((ordinal) => ordinal % 30 === 4);
    const ids = idsOf(0, 6000, true);
    const idOf = (ordinal: number) => Buffer.from(ids.subarray(ordinal * 16, ordinal * 16 + 16));
    const wanted = twins.sort((a, b) => idOf(a).compare(idOf(b))).slice(0, 100);
    expect(Array.from(answer.ordinals)).toEqual(wanted);
  });

  test("the graph of nearly equal vectors stays connected", () => {
    const some = 2000;
    const nodes = testing.setGraphNodes(some);
    const crowded = opened();
    const base = makeVectors("uniform", 1, dimension, 11);
    const noise = makeVectors("clusters", some + 20, dimension, 12);
    const close = noise.map((element, i) => (base[i % dimension] as number) + element * 0.01);
    appendAll(crowded, dimension, close.slice(0, some * dimension));
    buildGraph(crowded, dimension);
    testing.setGraphNodes(nodes);
    setScope(crowded, "all", dimension, upTo(some));
    const others = upTo(20).map((i) => at(close, dimension, some + i));
    const answers = recall(crowded, "all", dimension, others, 10, "graph");
    expect(answers).toMatchObject({ plans: new Set(["graph"]), short: 0 });
    expect(answers.recall).toBeGreaterThanOrEqual(0.98);
  });
});

describe("memory", () => {
  test("a thousand scopes that share 95% of their chunks cost less than a third of the index", () => {
    const dimension = 768;
    const count = 8192;
    const project = opened();
    appendAll(project, dimension, makeVectors("sparse", count, dimension, 14));
    for (let scope = 0; scope < 1000; scope++) {
      const start = (scope * 7) % Math.floor(count * 0.05);
      const ranges = Uint32Array.of(start, Math.floor(count * 0.95));
      native.setScope(project, `release-${scope}`, [{ dimension, ranges }]);
    }
    const stats = native.stats(project);
    const { codes, graph, ids } = stats?.dimensions[0]?.bytes ?? { codes: 0, graph: 0, ids: 0 };
    expect(stats?.scopes).toBe(1000);
    expect(stats?.scopeBytes).toBeLessThan((codes + graph + ids) * 0.3);
    native.dropProject(project);
  });

  test("dropped projects and many searches leak no memory", () => {
    const dimension = 768;
    const vectors = makeVectors("uniform", 1500, dimension, 15);
    const query = at(vectors, dimension, 0);
    const round = () => {
      const project = opened();
      appendAll(project, dimension, vectors);
      setScope(project, "all", dimension, upTo(1500));
      for (let i = 0; i < 300; i++) searchVector(project, "all", query, dimension, 10, 0, "/");
      native.dropProject(project);
      Bun.gc(true);
    };
    round();
    const before = testing.heldMemory();
    for (let i = 0; i < 3; i++) round();
    const after = testing.heldMemory();
    expect(after.slabs).toBe(before.slabs);
    // Less than a hundred bytes for each search.
    expect(after.heap - before.heap).toBeLessThan(3 * 300 * 100);
  });
});
