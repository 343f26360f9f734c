import { afterEach, describe, expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { makeVectors } from "../../support/vectors.ts";
import {
  answersOf,
  appendAll,
  buildGraph,
  dropProjects,
  maintainInBackground,
  opened,
  recall,
  setScope,
  upTo,
  vectorAt,
} from "./support.ts";

const DIMENSION = 768;
const wholeShard = native.setShardNodes(1);
native.setShardNodes(wholeShard);
const graphNodes = testing.setGraphNodes(1);
testing.setGraphNodes(graphNodes);

function openedInShards(shardNodes: number): string {
  native.setShardNodes(shardNodes);
  return opened();
}

const part = (project: string) => native.stats(project)?.dimensions[0];

/** Compacts as the service does when no version is on its way into a scope. */
const compact = (project: string) =>
  testing.maintainSync(project, DIMENSION, 2, new Uint32Array(0));

afterEach(() => {
  native.setShardNodes(wholeShard);
  testing.setGraphNodes(graphNodes);
  dropProjects();
});

describe("an index of several shards", () => {
  test("finds the same hits as an index of one shard, by exact search and as planned", () => {
    const count = 1200;
    const vectors = makeVectors("text", count + 20, DIMENSION, 71);
    const projects = [150, 10_000].map((shardNodes) => {
      const project = openedInShards(shardNodes);
      const ordinals = appendAll(project, DIMENSION, vectors.slice(0, count * DIMENSION), 0, true);
      buildGraph(project, DIMENSION);
      setScope(project, "all", DIMENSION, [...ordinals]);
      setScope(
        project,
        "some",
        DIMENSION,
        [...ordinals].filter((_, i) => i % 7 === 0),
      );
      return project;
    });
    const [sharded = "", whole = ""] = projects;
    expect(part(sharded)?.shards).toBe(8);
    expect(part(whole)?.shards).toBe(1);
    for (const scope of ["all", "some"]) {
      for (let i = 0; i < 20; i++) {
        const query = vectorAt(vectors, count + i);
        for (const limit of [1, 10, 100]) {
          const search = [scope, query, DIMENSION, limit, -1] as const;
          const truth = testing.exactSearch(whole, ...search);
          expect(testing.exactSearch(sharded, ...search).ids).toEqual(truth.ids);
          // A scan of codes keeps all that may be among the best, so it is exact in practice.
          expect(testing.searchRaw(sharded, ...search).ids).toEqual(truth.ids);
        }
      }
    }
  });

  test("stores a vector once although its chunks arrive in the time of different shards", () => {
    const project = openedInShards(100);
    const vectors = makeVectors("uniform", 350, DIMENSION, 73);
    appendAll(project, DIMENSION, vectors);
    const again = appendAll(project, DIMENSION, vectors.slice(0, 50 * DIMENSION), 350);
    expect(part(project)).toMatchObject({ shards: 4, vectors: 400, distinct: 350 });
    setScope(project, "again", DIMENSION, [...again]);
    const answer = testing.searchRaw(project, "again", vectorAt(vectors, 7), DIMENSION, 1, 0.99);
    expect([...answer.ordinals]).toEqual([again[7] as number]);
  });

  test("keeps its recall on graphs, in any scope, is never short, and is the same after a snapshot", () => {
    const count = 2400;
    testing.setGraphNodes(800);
    const project = openedInShards(1000);
    const vectors = makeVectors("clusters", count + 20, DIMENSION, 72);
    const ordinals = appendAll(project, DIMENSION, vectors.slice(0, count * DIMENSION));
    buildGraph(project, DIMENSION);
    expect(part(project)).toMatchObject({ shards: 3, graphed: 2000 });
    const queries = upTo(20).map((i) => vectorAt(vectors, count + i));
    const scopes = [1, 2, 10, 50, 200].map((every) => {
      const scope = `one chunk in ${every}`;
      const members = [...ordinals].filter((_, i) => i % every === 0);
      setScope(project, scope, DIMENSION, members);
      return scope;
    });
    for (const scope of scopes) {
      for (const limit of [10, 100]) {
        const found = recall(project, scope, DIMENSION, queries, limit, "graph");
        const searches = `${scope}, limit ${limit}`;
        expect(found.recall, `recall, ${searches}`).toBeGreaterThanOrEqual(0.98);
        expect(found.short, `short answers, ${searches}`).toBe(0);
      }
    }
    const answers = () => scopes.map((scope) => answersOf(project, scope, DIMENSION, queries));
    const before = answers();
    expect(before.flat().some(({ plan }) => plan === "graph")).toBe(true);
    const stats = native.stats(project);
    const folder = temporaryFolder("native");
    for (let round = 0; round < 2; round++) {
      const parts = testing.snapshotSync(project, folder);
      native.dropProject(project);
      testing.restoreSync(project, folder, parts);
      expect(answers()).toEqual(before);
      expect(native.stats(project)).toEqual(stats);
    }
  });
});

test("the graph of a shard leads to every vector of it", () => {
  const count = 4200;
  const project = openedInShards(count);
  const vectors = makeVectors("text", count, DIMENSION, 74);
  const ordinals = appendAll(project, DIMENSION, vectors);
  buildGraph(project, DIMENSION);
  setScope(project, "all", DIMENSION, [...ordinals]);
  const missed = upTo(count).filter((i) => {
    const search = [project, "all", vectorAt(vectors, i), DIMENSION, 1, -1, "graph"] as const;
    return (testing.searchRaw(...search).scores[0] ?? 0) <= 0.99999;
  });
  // Without the repair of graphs, four nodes have no link that leads to them.
  expect(missed).toEqual([]);
});

describe("chunks that no scope names any more", () => {
  const COUNT = 1500;
  const SHARD_NODES = 900;
  const vectors = makeVectors("text", COUNT, DIMENSION, 75);

  function halfDeleted() {
    // Before and after a compaction a shard has enough vectors for a graph, and another too few.
    testing.setGraphNodes(400);
    const project = openedInShards(SHARD_NODES);
    const ordinals = appendAll(project, DIMENSION, vectors);
    buildGraph(project, DIMENSION);
    const kept = [...ordinals].filter((_, i) => i % 2 === 0);
    setScope(project, "kept", DIMENSION, kept);
    const search = () =>
      upTo(20).map((i) =>
        testing.exactSearch(project, "kept", vectorAt(vectors, i * 31), DIMENSION, 10, -1),
      );
    return { project, ordinals, search };
  }

  test("free their memory, and the rest is found as before", () => {
    const { project, search } = halfDeleted();
    const idsBefore = search().map(({ ids }) => ids);
    const bytesBefore = part(project)?.bytes;
    compact(project);
    expect(search().map(({ ids }) => ids)).toEqual(idsBefore);
    expect(part(project)).toMatchObject({ vectors: COUNT / 2, distinct: COUNT / 2 });
    expect(part(project)?.bytes.vectors).toBe((bytesBefore?.vectors ?? 0) / 2);
    // The shards have room again.
    appendAll(project, DIMENSION, makeVectors("text", 200, DIMENSION, 76), COUNT);
    expect(part(project)).toMatchObject({ shards: 2, vectors: COUNT / 2 + 200 });
    const answer = testing.searchRaw(project, "kept", vectorAt(vectors, 0), DIMENSION, 1, 0.9);
    expect(answer.ids[15]).toBe(0);
  });

  test("stay if they were appended after the work began, or are listed to be kept", async () => {
    const { project, ordinals, search } = halfDeleted();
    const before = search().map(({ ids }) => ids);
    // The first two hundred rows, half of which no scope names.
    const kept = Uint32Array.of(ordinals[0] as number, 200);
    const step = native.maintain(project, DIMENSION, kept, 1);
    const late = appendAll(project, DIMENSION, makeVectors("text", 10, DIMENSION, 77), COUNT);
    setScope(project, "late", DIMENSION, [...late]);
    expect(await step).toMatchObject({ compacted: true });
    const compacted = native.commitCompaction(project);
    const rows = compacted?.remaining ?? new Uint32Array(0);
    expect([...rows.slice(0, 2)]).toEqual([0, 201]);
    expect(search().map(({ ids }) => ids)).toEqual(before);
    const query = vectorAt(makeVectors("text", 10, DIMENSION, 77), 3);
    expect(testing.searchRaw(project, "late", query, DIMENSION, 1, 0.9).ids[15]).toBe(
      (COUNT + 3) % 256,
    );
  });

  test("are not dropped when a scope is given them while the work goes on", async () => {
    const { project, ordinals, search } = halfDeleted();
    const before = search().map(({ ids }) => ids);
    const step = await native.maintain(project, DIMENSION, new Uint32Array(0), 1);
    expect(step.compacted).toBe(true);
    setScope(project, "revived", DIMENSION, [ordinals[1] as number]);
    expect(native.commitCompaction(project)).toBeNull();
    expect(native.commitCompaction(project)).toBeNull();
    expect(part(project)?.vectors).toBe(COUNT);
    expect(search().map(({ ids }) => ids)).toEqual(before);
    compact(project);
    expect(part(project)?.vectors).toBe(COUNT / 2 + 1);
  });

  test("are freed in the background while searches, appends and snapshots go on", async () => {
    const { project, search } = halfDeleted();
    const truth = search().map(({ ids }) => ids);
    const maintenance = maintainInBackground(project, DIMENSION, 2, new Uint32Array(0));
    await until("half of the vectors are freed", () => {
      expect(search().map(({ ids }) => ids)).toEqual(truth);
      return part(project)?.vectors === COUNT / 2;
    });
    await maintenance.stop();
    expect(part(project)?.vectors).toBe(COUNT / 2);
    expect(search().map(({ ids }) => ids)).toEqual(truth);
  });
});
