import { afterEach, expect, test } from "bun:test";
import * as native from "../../../native/index.ts";
import { makeVectors } from "../../../support/vectors.ts";
import {
  appendAll,
  buildGraph,
  dropProjects,
  opened,
  recall,
  setScope,
  upTo,
  vectorAt,
} from "../../native/support.ts";

const DIMENSION = 768;
const wholeShard = native.setShardNodes(1);

afterEach(() => {
  native.setShardNodes(wholeShard);
  dropProjects();
});

test("an index of several shards keeps its recall on graphs, in any scope, and is never short", () => {
  const count = 20_000;
  native.setShardNodes(count / 2);
  const vectors = makeVectors("text", count + 50, DIMENSION, 72);
  const project = opened();
  const ordinals = appendAll(project, DIMENSION, vectors.slice(0, count * DIMENSION));
  buildGraph(project, DIMENSION);
  expect(native.stats(project)?.dimensions[0]).toMatchObject({ shards: 2, graphed: count });
  const queries = upTo(50).map((i) => vectorAt(vectors, count + i));
  for (const every of [1, 2, 10, 50, 200]) {
    const members = [...ordinals].filter((_, i) => i % every === 0);
    setScope(project, "some", DIMENSION, members);
    for (const limit of [10, 100]) {
      const found = recall(project, "some", DIMENSION, queries, limit);
      const searches = `one chunk in ${every}, limit ${limit}`;
      expect(found.recall, `recall, ${searches}`).toBeGreaterThanOrEqual(0.98);
      expect(found.short, `short answers, ${searches}`).toBe(0);
    }
  }
});
