import { afterEach, expect, test } from "bun:test";
import { cosineOf } from "../../../support/api/versions.ts";
import { makeVectors } from "../../../support/vectors.ts";
import {
  dropProjects,
  openedWithGraph,
  recall,
  setScope,
  upTo,
  vectorAt,
} from "../../native/support.ts";

const DIMENSION = 768;
const COUNT = 12_000;
const QUERIES = 40;
const RECALL_MIN = 0.99;

afterEach(dropProjects);

for (const kind of ["clusters", "text"] as const) {
  test(`${kind}: filters by topic find the best chunks, for and against the query's topic`, () => {
    const all = makeVectors(kind, COUNT + QUERIES * 2, DIMENSION, 27);
    const vectors = upTo(COUNT + QUERIES * 2).map((i) => vectorAt(all, i));
    const topic = vectors[0] as Float32Array<ArrayBuffer>;
    const near = vectors.map((vector) => cosineOf(vector, topic));
    const byNearness = (numbers: readonly number[]) =>
      [...numbers].sort((a, b) => (near[b] as number) - (near[a] as number));
    const project = openedWithGraph(all, DIMENSION, COUNT);
    const members = byNearness(upTo(COUNT));
    const queries = byNearness(upTo(QUERIES * 2).map((i) => COUNT + i))
      .slice(0, QUERIES)
      .map((i) => vectors[i] as Float32Array<ArrayBuffer>);
    const plans = new Set<string>();
    for (const share of [0.5, 0.1, 0.01, 0.001]) {
      const size = Math.round(COUNT * share);
      for (const chosen of [members.slice(0, size), members.slice(-size)]) {
        setScope(project, "some", DIMENSION, chosen);
        const found = recall(project, "some", DIMENSION, queries);
        expect(found.recall, `recall, share ${share}`).toBeGreaterThanOrEqual(RECALL_MIN);
        expect(found.short, `short answers, share ${share}`).toBe(0);
        for (const plan of found.plans) plans.add(plan);
      }
    }
    expect([...plans].sort()).toEqual(["exact", "graph", "scan"]);
  });
}
