import { expect, test } from "bun:test";
import { byPlacement } from "../../../src/pgvector/replicator/placements.ts";
import { candidatesFor, planFor, statementLimit } from "../../../src/pgvector/search-statement.ts";
import { SEARCH_LIMIT_MAX } from "../../../src/shared/limits.ts";

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
