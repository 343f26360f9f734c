import { afterEach, expect, test } from "bun:test";
import { Random } from "../../../support/random.ts";
import { makeVectors } from "../../../support/vectors.ts";
import { dropProjects, openedWithGraph, recall, upTo, vectorAt } from "../../native/support.ts";

const COUNT = 9_000;
const QUERIES = 200;
/** The nearest chunks of a midpoint belong to two groups, which few walks of the graph meet alike. */
const RECALL_MIN = { new: 0.99, midpoints: 0.98 };

afterEach(dropProjects);

for (const [kind, dimension] of [
  ["clusters", 768],
  ["clusters", 1536],
  ["text", 1536],
] as const) {
  test(`${kind} ${dimension}: new vectors and midpoints of unrelated ones find their neighbours`, () => {
    const all = makeVectors(kind, COUNT + QUERIES, dimension, 31);
    const vectorOf = (i: number) => vectorAt(all, i, dimension);
    const project = openedWithGraph(all, dimension, COUNT);
    const random = new Random(32);
    const midpoints = upTo(QUERIES).map(() => {
      const [a, b] = random.sample(upTo(COUNT), 2).map(vectorOf) as [Float32Array, Float32Array];
      return a.map((element, i) => element + (b[i] as number));
    });
    const queries = { new: upTo(QUERIES).map((i) => vectorOf(COUNT + i)), midpoints };
    for (const [name, min] of Object.entries(RECALL_MIN)) {
      const vectors = queries[name as keyof typeof queries];
      for (const limit of [10, 100]) {
        const found = recall(project, "all", dimension, vectors, limit);
        expect(found.recall, `${name}, ${limit} results`).toBeGreaterThanOrEqual(min);
        expect(found.short, `${name}, short answers`).toBe(0);
      }
    }
  });
}
