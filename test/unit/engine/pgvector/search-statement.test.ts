import { expect, test } from "bun:test";
import { SEARCH_LIMIT_MAX } from "../../../../src/domain/limits.ts";
import { byPlacement } from "../../../../src/engine/pgvector/replicator/placements.ts";
import {
  candidatesFor,
  planFor,
  statementLimit,
} from "../../../../src/engine/pgvector/search-statement.ts";

const contents = {
  copyId: crypto.randomUUID(),
  placements: [0],
  applied: 1,
  chunks: 50_000,
  rows: 50_000,
  thresholds: new Float32Array(3 * 768),
  graph: true,
  candidates: null,
};

test("the plan follows from the size of the scope and its share of the table", () => {
  expect(planFor(contents, 10)).toBe("graph");
  expect(planFor({ ...contents, chunks: 25_000 }, 10)).toBe("graph");
  expect(planFor({ ...contents, chunks: 5_000 }, 10)).toBe("scan");
  const measured = { ...contents, candidates: [40, 200] };
  expect(planFor({ ...measured, chunks: 10_000 }, 10)).toBe("graph");
  expect(planFor({ ...measured, chunks: 5_000 }, 10)).toBe("scan");
  expect(planFor({ ...measured, chunks: 10_000, placements: [0, 1, 2, 3] }, 10)).toBe("scan");
  expect(planFor({ ...contents, graph: false }, 10)).toBe("scan");
  expect(planFor({ ...contents, chunks: candidatesFor(10, null) }, 10)).toBe("exact");
  expect(planFor({ ...contents, thresholds: null }, 10)).toBe("exact");
});

test("in a larger table the graph serves smaller shares of it, as far as its scan goes", () => {
  const smallest = (rows: number, candidates: readonly number[], limit: number) => {
    const isGraph = (chunks: number) =>
      planFor({ ...contents, rows, chunks, candidates }, limit) === "graph";
    let [none, all] = [0, rows];
    while (all - none > 1) {
      const chunks = Math.floor((none + all) / 2);
      if (isGraph(chunks)) all = chunks;
      else none = chunks;
    }
    return all / rows;
  };
  expect(smallest(50_000, [40, 200], 10)).toBeCloseTo(0.139, 3);
  expect(smallest(200_000, [40, 200], 10)).toBeCloseTo(0.069, 3);
  expect(smallest(1_000_000, [40, 200], 10)).toBeCloseTo(0.031, 3);
  expect(smallest(1_000_000_000, [40, 2_000], SEARCH_LIMIT_MAX)).toBeCloseTo(0.1, 3);
});

test("a search compares as many candidates as were measured for its limit, or a bound before that", () => {
  expect(candidatesFor(1, null)).toBe(400);
  expect(candidatesFor(100, null)).toBe(2_000);
  expect([1, 10, 55, 100].map((limit) => candidatesFor(limit, [60, 240]))).toEqual([
    60, 60, 150, 240,
  ]);
  expect(candidatesFor(100, [60, 20])).toBe(100);
  expect([10, 100].map((limit) => candidatesFor(limit, [640, 3_200]))).toEqual([400, 2_000]);
  expect(planFor({ ...contents, chunks: 400, candidates: [60, 240] }, 10)).toBe("exact");
});

test("every limit is answered by one of few statements, which find at least as many", () => {
  const limits = Array.from({ length: SEARCH_LIMIT_MAX }, (_, i) => statementLimit(i + 1));
  for (const [i, limit] of limits.entries()) expect(limit).toBeGreaterThan(i);
  expect(new Set(limits).size).toBeLessThan(5);
});

test("file versions are spread evenly over placements", () => {
  const placements = [3, 8, 21, 34];
  const versions = Array.from({ length: 4_000 }, () => crypto.randomUUID());
  const groups = byPlacement(versions, placements);
  expect([...groups.keys()]).toEqual(placements);
  for (const group of groups.values()) expect(group.length).toBeGreaterThan(800);
  expect([...groups.values()].flat().sort()).toEqual(versions.sort());
});
