import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { searchVector } from "./searches.ts";
import {
  appendAll,
  buildGraph,
  dropProjects,
  opened,
  setScope,
  upTo,
  vectorAt,
} from "./support.ts";

const DIMENSION = 768;
const SMALL = 1_200;
/** More than a small scope has, and enough for a graph. */
const LARGE = 3_000;
const LIMIT = 10;
/** Queries of a large scope. */
const QUERIES = 8;
const KINDS: readonly DataKind[] = ["clusters", "duplicates", "sparse"];
const decoder = new TextDecoder();

afterAll(dropProjects);

interface Counted {
  readonly results: number;
  readonly total: number;
  readonly isExact: boolean;
  readonly plan: string;
}

function count(
  project: string,
  query: Float32Array<ArrayBuffer>,
  threshold: number,
  exact = false,
): Counted {
  const report = new Float64Array(native.SEARCH_REPORT_LENGTH);
  const ask = [DIMENSION, LIMIT, threshold, "/", report, exact] as const;
  const outcome = searchVector(project, "some", query, ...ask) as Uint8Array;
  const { data, total_matches: total } = JSON.parse(decoder.decode(outcome));
  const plan = native.PLANS[report[3] as number] as string;
  return { results: data.length, total, isExact: report[9] === 1, plan };
}

/** The scores of members, in double precision, as the native core adds them up. */
function scoresOf(project: string, members: number[], query: Float32Array<ArrayBuffer>): number[] {
  const scores: number[] = [];
  for (let at = 0; at < members.length; at += 100) {
    setScope(project, "part", DIMENSION, members.slice(at, at + 100));
    const part = testing.exactSearch(project, "part", query, DIMENSION, 100, -1);
    scores.push(...part.scores);
  }
  return scores;
}

describe.each(KINDS.map((kind) => [kind]))("in a small scope of %s", (kind) => {
  test("total_matches counts each chunk that reaches the threshold, whatever the limit is", () => {
    const project = opened();
    const vectors = makeVectors(kind, SMALL, DIMENSION, 5);
    // Several chunks share a vector.
    vectors.copyWithin(0, 600 * DIMENSION, 800 * DIMENSION);
    appendAll(project, DIMENSION, vectors);
    const queries = makeVectors(kind, 20, DIMENSION, 6);
    fc.assert(
      fc.property(
        fc.integer({ min: 65, max: SMALL }),
        fc.nat(SMALL - 1),
        fc.nat(19),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (size, row, question, share, isMember) => {
          const members = upTo(SMALL).slice(0, size);
          const query = isMember ? vectorAt(vectors, row) : vectorAt(queries, question);
          const scores = scoresOf(project, members, query).sort((a, b) => a - b);
          // A score itself is a threshold that the estimates cannot tell from its neighbours.
          const threshold = scores[Math.floor(share * (size - 1))] as number;
          const truth = scores.filter((score) => score >= threshold).length;
          setScope(project, "some", DIMENSION, members);
          const { results, total, isExact } = count(project, query, threshold);
          expect(results).toBe(Math.min(LIMIT, truth));
          if (isExact) expect(total).toBe(truth);
          else expect(total).toBeWithin(results, truth + 1);
          // Only very many vectors near the threshold leave a small scope uncounted.
          if (size <= 256) expect(isExact).toBe(true);
          const exact = count(project, query, threshold, true);
          expect(exact).toEqual({ results, total: truth, isExact: true, plan: "exact" });
        },
      ),
      // In the example, the estimate of the second best of a few sparse vectors errs by more than its margin.
      { numRuns: 60, examples: [[65, 670, 0, 0.984375, true]] },
    );
  });
});

describe("in a large scope", () => {
  const shardNodes = native.setShardNodes(1);
  native.setShardNodes(shardNodes);
  const vectors = makeVectors("clusters", LARGE, DIMENSION, 7);
  /** The scores of all vectors for a query, which do not depend on how they are searched. */
  const scores = new Map<number, number[]>();
  test.each([
    ["scan", shardNodes],
    ["graph", shardNodes],
    ["scan", 1_000],
  ] as const)(
    "total_matches of a %s is a lower bound, and of an exact search the count (shards of %d)",
    (plan, nodes) => {
      native.setShardNodes(nodes);
      try {
        const project = opened();
        const members = Array.from(appendAll(project, DIMENSION, vectors));
        if (plan === "graph") {
          const graphNodes = testing.setGraphNodes(LARGE);
          buildGraph(project, DIMENSION);
          testing.setGraphNodes(graphNodes);
        }
        setScope(project, "some", DIMENSION, members);
        for (let row = 0; row < QUERIES; row++) {
          const query = vectorAt(vectors, row);
          const known = scores.get(row) ?? scoresOf(project, members, query);
          scores.set(row, known);
          for (const threshold of [0, 0.5, 0.7, 0.95]) {
            const truth = known.filter((score) => score >= threshold).length;
            const bound = count(project, query, threshold);
            expect(bound.isExact).toBe(false);
            expect(bound.total).toBeGreaterThanOrEqual(bound.results);
            expect(bound.total).toBeLessThanOrEqual(truth);
            const exact = count(project, query, threshold, true);
            expect(exact).toMatchObject({ total: truth, isExact: true, plan: "exact" });
          }
        }
      } finally {
        native.setShardNodes(shardNodes);
      }
    },
  );
});
