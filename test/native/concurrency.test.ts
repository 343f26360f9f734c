import { afterAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { makeVectors } from "../../support/vectors.ts";
import { appendAll, maintainInBackground, opened, setScope, upTo } from "./support.ts";

const DIMENSION = 768;
const STABLE = 600;
const BATCH = 50;
const BATCHES = 12;
const SEARCHERS = 3;

// Graphs of little data, so that several generations are made while the project grows.
const graphNodes = testing.setGraphNodes(STABLE);
afterAll(() => {
  testing.setGraphNodes(graphNodes);
});

interface Report {
  readonly searches: number;
  readonly faults: string[];
  readonly largest: number;
}

/** Starts a thread that searches, which tells when it has begun and what it has found at the end. */
function startSearcher(assignment: object) {
  const worker = new Worker(new URL("./searcher.ts", import.meta.url));
  const [begun, report] = [Promise.withResolvers<void>(), Promise.withResolvers<Report>()];
  worker.onmessage = ({ data }) => {
    if (data === "begun") begun.resolve();
    else report.resolve(data);
  };
  worker.onerror = ({ message }) => begun.reject(new Error(message));
  worker.postMessage(assignment);
  return { worker, begun: begun.promise, report: report.promise };
}

test("concurrent searches return complete, correct answers while one thread writes", async () => {
  const project = opened();
  const vectors = makeVectors("clusters", STABLE + BATCH * BATCHES, DIMENSION, 31);
  appendAll(project, DIMENSION, vectors.slice(0, STABLE * DIMENSION));
  setScope(project, "stable", DIMENSION, upTo(STABLE));
  setScope(project, "growing", DIMENSION, upTo(STABLE));

  const searchers = upTo(SEARCHERS).map((seed) =>
    startSearcher({ project, dimension: DIMENSION, stable: STABLE, seed }),
  );
  await Promise.all(searchers.map(({ begun }) => begun));

  const maintenance = maintainInBackground(project, DIMENSION);
  const folder = temporaryFolder("native");
  let parts: readonly native.Part[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const first = STABLE + batch * BATCH;
    appendAll(
      project,
      DIMENSION,
      vectors.slice(first * DIMENSION, (first + BATCH) * DIMENSION),
      first,
    );
    native.setScope(project, "growing", [
      { dimension: DIMENSION, ranges: Uint32Array.of(0, first + BATCH) },
    ]);
    native.setScope(project, `brief-${batch}`, []);
    if (batch % 6 === 5) {
      parts = testing.snapshotSync(project, folder);
    }
    native.dropScope(project, `brief-${batch}`);
    await Bun.sleep(1);
  }
  await maintenance.stop();
  native.dropScope(project, "growing");
  for (const { worker, report } of searchers) {
    const { faults, largest } = await report;
    expect(faults).toEqual([]);
    expect(largest).toBeLessThan(STABLE + BATCH * BATCHES);
    worker.terminate();
  }
  testing.restoreSync(project, folder, parts);
  native.dropProject(project);
});

test("searches of a project that is dropped and restored answer or report it as not loaded", async () => {
  const project = opened();
  const vectors = makeVectors("clusters", 1000, DIMENSION, 32);
  appendAll(project, DIMENSION, vectors);
  setScope(project, "stable", DIMENSION, upTo(1000));
  setScope(project, "growing", DIMENSION, upTo(1000));
  const options = { project, dimension: DIMENSION, stable: 1000, seed: 1, mayVanish: true };
  const { worker, begun, report } = startSearcher(options);
  await begun;
  const folder = temporaryFolder("native");
  const parts = testing.snapshotSync(project, folder);
  for (let round = 0; round < 20; round++) {
    native.dropProject(project);
    testing.restoreSync(project, folder, parts);
    await Bun.sleep(1);
  }
  native.dropScope(project, "growing");
  expect((await report).faults).toEqual([]);
  worker.terminate();
  native.dropProject(project);
});

test("a snapshot that is written while the project grows is complete and consistent", async () => {
  const project = opened();
  const vectors = makeVectors("clusters", STABLE + BATCH * BATCHES, DIMENSION, 33);
  appendAll(project, DIMENSION, vectors.slice(0, STABLE * DIMENSION));
  setScope(project, "stable", DIMENSION, upTo(STABLE));
  const folder = temporaryFolder("native");
  let parts: readonly native.Part[] = [];
  let writing = true;
  const maintenance = maintainInBackground(project, DIMENSION);
  const snapshots = (async () => {
    while (writing) parts = await native.snapshot(project, folder);
  })();
  for (let batch = 0; batch < BATCHES; batch++) {
    const first = STABLE + batch * BATCH;
    const more = vectors.slice(first * DIMENSION, (first + BATCH) * DIMENSION);
    appendAll(project, DIMENSION, more, first);
    await Bun.sleep(1);
  }
  const search = () =>
    testing.exactSearch(project, "stable", vectors.slice(0, DIMENSION), DIMENSION, 10, -1);
  const before = search();
  // The last snapshot is still being written while the graph grows.
  await maintenance.stop();
  writing = false;
  await snapshots;
  native.dropProject(project);
  await native.restore(project, folder, parts);
  expect(search().ids).toEqual(before.ids);
  const [part] = native.stats(project)?.dimensions ?? [];
  // Batches are appended as a whole, so a consistent snapshot holds no part of one.
  const batches = ((part?.vectors ?? 0) - STABLE) / BATCH;
  expect(upTo(BATCHES + 1)).toContain(batches);
  native.dropProject(project);
});

test("a snapshot completes although the thread that started it is terminated", async () => {
  const project = opened();
  // So many that a snapshot takes longer than it takes to terminate the thread.
  const count = 5000;
  appendAll(project, DIMENSION, makeVectors("sparse", count, DIMENSION, 34));
  setScope(project, "stable", DIMENSION, upTo(count));
  const folder = temporaryFolder("native");
  for (let round = 0; round < 5; round++) {
    const worker = new Worker(new URL("./snapshotter.ts", import.meta.url));
    await new Promise((resolve) => {
      worker.onmessage = resolve;
      worker.postMessage({ project, folder });
    });
    worker.terminate();
  }
  // A snapshot waits for those of the terminated threads, which continue.
  const parts = await native.snapshot(project, folder);
  for (const { name, bytes } of parts) expect(statSync(join(folder, name)).size).toBe(bytes);
  native.dropProject(project);
});
