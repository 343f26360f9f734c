import { afterEach, expect, test } from "bun:test";
import * as native from "../../../native/index.ts";
import { randomNumbers } from "../../../support/random.ts";
import { makeVectors } from "../../../support/vectors.ts";
import {
  dropProjects,
  openedWithGraph,
  recall,
  setScope,
  upTo,
  vectorAt,
} from "../../native/support.ts";

/** An index with a graph of the first vectors; the others are queries. */
function indexed(vectors: Float32Array<ArrayBuffer>, dimension: number, count: number) {
  const project = openedWithGraph(vectors, dimension, count);
  expect(native.stats(project)?.dimensions[0]?.graphed).toBe(count);
  const queries = upTo(vectors.length / dimension - count).map((i) =>
    vectorAt(vectors, count + i, dimension),
  );
  return { project, queries };
}

afterEach(dropProjects);

const kinds = [
  ["clusters", 768, 8000, 0.985],
  ["clusters", 3072, 4200, 0.985],
  ["sparse", 1024, 6000, 0.98],
  ["uniform", 768, 5000, 0.9],
] as const;
for (const [kind, dimension, count, least] of kinds) {
  test(`${kind} ${dimension}: recall is high in scopes of any size, and no answer is short`, () => {
    const { project, queries } = indexed(
      makeVectors(kind, count + 40, dimension, 7),
      dimension,
      count,
    );
    const random = randomNumbers(8);
    const seen = new Set<string>();
    for (const share of [1, 0.5, 0.1, 0.02, 0.005]) {
      const members = upTo(count).filter(() => random() < share);
      setScope(project, "some", dimension, members);
      const { recall: found, plans, short } = recall(project, "some", dimension, queries);
      expect(found, `recall, share ${share}`).toBeGreaterThanOrEqual(least);
      expect(short, `short answers, share ${share}`).toBe(0);
      for (const plan of plans) seen.add(plan);
    }
    expect(seen.has("scan")).toBe(true);
    if (kind === "clusters") expect(seen.has("graph")).toBe(true);
  });
}

// The largest dimension is just above the size from which indexes have a graph, to save time.
const limited = [
  ["clusters", 768, 12_000],
  ["clusters", 4096, 4300],
  ["sparse", 1536, 6000],
] as const;
for (const [kind, dimension, count] of limited) {
  test(`${kind} ${dimension}: recall is high at limits of 1, 50 and 100, and no answer is short`, () => {
    const { project, queries } = indexed(
      makeVectors(kind, count + 20, dimension, 17),
      dimension,
      count,
    );
    const random = randomNumbers(18);
    for (const share of [1, 0.3, 0.1]) {
      const members = upTo(count).filter(() => random() < share);
      setScope(project, "some", dimension, members);
      for (const limit of [1, 50, 100]) {
        const { recall: found, short } = recall(project, "some", dimension, queries, limit);
        const searches = `share ${share}, limit ${limit}`;
        expect(found, `recall, ${searches}`).toBeGreaterThanOrEqual(0.98);
        expect(short, `short answers, ${searches}`).toBe(0);
      }
    }
  });
}

test("nearly equal vectors without structure are found", () => {
  const dimension = 768;
  const count = 5000;
  const base = makeVectors("uniform", 1, dimension, 11);
  const noise = makeVectors("uniform", count + 20, dimension, 12);
  const vectors = noise.map((element, i) => (base[i % dimension] as number) + element * 0.01);
  const { project, queries } = indexed(vectors, dimension, count);
  const { recall: found, short } = recall(project, "all", dimension, queries);
  expect(short).toBe(0);
  expect(found).toBeGreaterThanOrEqual(0.9);
});
