import { afterEach, expect, test } from "bun:test";
import * as native from "../../../native/index.ts";
import * as testing from "../../../native/testing.ts";
import { makeVectors } from "../../../support/vectors.ts";
import {
  appendAll,
  buildGraph,
  freshProject,
  recall,
  setScope,
  upTo,
} from "../../native/support.ts";

const DIMENSION = 768;
const wholeShard = native.setShardNodes(1);

const at = (vectors: Float32Array<ArrayBuffer>, i: number) =>
  vectors.slice(i * DIMENSION, (i + 1) * DIMENSION);

function opened(shardNodes: number): string {
  native.setShardNodes(shardNodes);
  const project = freshProject();
  native.openProject(project);
  return project;
}

afterEach(() => {
  native.setShardNodes(wholeShard);
  for (const project of native.projects()) native.dropProject(project);
});

test("an index finds nearly every vector by a search for itself", () => {
  const count = 12_000;
  const project = opened(count);
  const vectors = makeVectors("text", count, DIMENSION, 74);
  const ordinals = appendAll(project, DIMENSION, vectors);
  buildGraph(project, DIMENSION);
  setScope(project, "all", DIMENSION, [...ordinals]);
  const isFound = (i: number) => {
    const { scores } = testing.searchRaw(project, "all", at(vectors, i), DIMENSION, 1, -1);
    return (scores[0] ?? 0) > 0.99999;
  };
  const missed = upTo(count).filter((i) => !isFound(i));
  // Without the repair of graphs, 0.2% of the nodes have no link that leads to them.
  expect(missed.length).toBeLessThan(count / 1000);
});

test("an index of several shards keeps its recall on graphs, in any scope, and is never short", () => {
  const count = 20_000;
  const project = opened(count / 2);
  const vectors = makeVectors("text", count + 50, DIMENSION, 72);
  const ordinals = appendAll(project, DIMENSION, vectors.slice(0, count * DIMENSION));
  buildGraph(project, DIMENSION);
  expect(native.stats(project)?.dimensions[0]).toMatchObject({ shards: 2, graphed: count });
  const queries = upTo(50).map((i) => at(vectors, count + i));
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
