import { afterAll, expect, test } from "bun:test";
import * as native from "../../../native/index.ts";
import * as testing from "../../../native/testing.ts";
import { randomNumbers } from "../../../support/random.ts";
import { makeVectors } from "../../../support/vectors.ts";
import { openedWithGraph, recall, setScope, upTo, vectorAt } from "../../native/support.ts";

const sets = testing.kernelSets();

afterAll(() => {
  testing.useKernels(sets.at(-1) as string);
});

const cases = [
  ["clusters", 768, 4600],
  ["sparse", 1024, 4300],
] as const;
for (const [kind, dimension, count] of cases) {
  test(`${kind} ${dimension}: every set of kernels gives the same graph, plans and answers, with good recall`, () => {
    const vectors = makeVectors(kind, count + 12, dimension, 51);
    const queries = upTo(12).map((i) => vectorAt(vectors, count + i, dimension));
    const random = randomNumbers(52);
    const some = upTo(count).filter(() => random() < 0.1);
    const answersWith = (set: string) => {
      testing.useKernels(set);
      const project = openedWithGraph(vectors, dimension, count);
      setScope(project, "some", dimension, some);
      const answers = ["all", "some"].flatMap((scope) =>
        queries.flatMap((query) =>
          [10, 100].map((limit) => {
            const answer = testing.searchRaw(project, scope, query, dimension, limit, -1);
            return { ...answer, milliseconds: 0 };
          }),
        ),
      );
      const { window, graphed } = native.stats(project)?.dimensions[0] ?? {};
      expect(graphed).toBe(count);
      for (const scope of ["all", "some"]) {
        const { recall: found } = recall(project, scope, dimension, queries);
        expect(found, `recall of ${scope} with ${set}`).toBeGreaterThanOrEqual(0.98);
      }
      native.dropProject(project);
      return { window, answers };
    };
    const portable = answersWith("portable");
    for (const set of sets.slice(1)) expect(answersWith(set), set).toEqual(portable);
  });
}
