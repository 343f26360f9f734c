import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import { INDEX_LOADED_MIN_MS, INDEX_RETRY_BASE_MS } from "../../../../src/domain/limits.ts";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import type { IndexingContext } from "../../../../src/index/projects/indexing-context.ts";
import { LoadedProjects } from "../../../../src/index/projects/loaded-projects.ts";
import { SnapshotStore } from "../../../../src/index/snapshots/snapshot-store.ts";
import type { VersionIndex } from "../../../../src/index/versions/version-index.ts";
import { createLog } from "../../../../src/ops/observability/log.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

useFakeClock();

const PROJECT_BYTES = 100;
const BUDGET_BYTES = 1_000;
const GREEDY_PROJECTS = 13;

/** An index whose projects all need the same memory. */
function indexOfEqualProjects(): VersionIndex {
  const scopes = new Map<string, Set<string>>();
  return {
    name: "fake",
    openProject: (id: string) => scopes.set(id, new Set()),
    setScope: (id: string, scope: string) => scopes.get(id)?.add(scope),
    dropProject: (id: string) => scopes.delete(id),
    stats: (id: string) => (scopes.has(id) ? [{ dimension: 0, bytes: PROJECT_BYTES }] : []),
    snapshot: async () => [],
  } as unknown as VersionIndex;
}

const scope = { id: randomUUID(), kind: "environment" as const };

interface World {
  readonly index?: Partial<VersionIndex>;
  readonly snapshots?: SnapshotStore;
  scopesOf?(projectId: string): Promise<unknown[]>;
  versionsOf?(): Promise<string[]>;
}

/** Projects with an empty scope each, and the names of those that were loaded and evicted. */
function openProjects({
  index = {},
  snapshots = new SnapshotStore(temporaryFolder("projects")),
  scopesOf = async () => [scope],
  versionsOf = async () => [],
}: World = {}) {
  const [loaded, evicted]: [string[], string[]] = [[], []];
  const context = {
    log: createLog("silent"),
    indexes: [{ ...indexOfEqualProjects(), ...index }],
    fields: new FieldIndex(PLAIN_NAMES),
    changes: { scopesOf, versionsOf, checkAnchor: async () => "valid", after: async () => [] },
    reader: {},
    snapshots,
    databaseId: "d",
    anchor: () => ({ seq: 1, at: "" }),
    bulk: pLimit(1),
  } as unknown as IndexingContext;
  const events = {
    loaded: (id: string) => void loaded.push(id),
    evicted: (id: string) => void evicted.push(id),
  };
  const projects = new LoadedProjects(context, events, BUDGET_BYTES);
  const ensure = (projectId: string, tenant: string) =>
    projects.ensure({ projectId, scope, tenant, indexes: [] });
  return { projects, ensure, loaded, evicted };
}

test("when memory is short, the projects of the tenant who holds the most of it are evicted, also before those that were used longer ago", async () => {
  const { projects, ensure, evicted } = openProjects();
  expect(await ensure("modest", "modest")).toBe(true);
  for (let i = 0; i < GREEDY_PROJECTS; i++) {
    expect(await ensure(`greedy-${i}`, "greedy")).toBe(true);
  }
  // What was loaded just now would stay, so that the search that waits for it gets through.
  await advance(INDEX_LOADED_MIN_MS);
  await projects.enforceBudget();
  expect(evicted).toEqual([]);
  await advance(1);
  await projects.enforceBudget();
  expect(evicted.slice(0, 2)).toEqual(["greedy-0", "greedy-1"]);
  expect(evicted).not.toContain("modest");
});

test("a project that is indexed from the beginning is searched only after its indexes have settled", async () => {
  const settling = Promise.withResolvers<void>();
  const { ensure, loaded } = openProjects({ index: { settle: () => settling.promise } });
  const ensured = ensure("p", "t");
  await turns();
  expect(loaded).toEqual([]);
  settling.resolve();
  await ensured;
  expect(loaded).toEqual(["p"]);
});

test("a snapshot that fails is not tried again at once, and does not stop the caller", async () => {
  let attempts = 0;
  const snapshot = async () => {
    attempts++;
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  const { projects } = openProjects({ index: { snapshot } });
  expect(await projects.load("p")).toBe("loaded");
  expect(await projects.saveOne(() => true)).toBe(true);
  // A stop saves until nothing is due any more, so it must come to an end.
  for (let i = 0; i < 10; i++) expect(await projects.saveOne(() => true)).toBe(false);
  expect(attempts).toBe(1);
});

test("a project that cannot be loaded delays those after it for two attempts, and is loaded once it can be", async () => {
  let attempts = 0;
  let isBroken = true;
  const { projects, loaded } = openProjects({
    async scopesOf(id) {
      if (id !== "broken") return [scope];
      attempts++;
      if (isBroken) throw new TypeError("fails on purpose");
      return [scope];
    },
  });
  const passed = projects.loadOrPass("broken");
  await advance(INDEX_RETRY_BASE_MS);
  await passed;
  expect(attempts).toBe(2);
  await projects.loadOrPass("sound");
  projects.prefetch("another", () => true);
  await turns();
  expect(loaded).toEqual(["sound", "another"]);
  isBroken = false;
  const mended = projects.load("broken");
  await advance(2 * INDEX_RETRY_BASE_MS);
  expect(await mended).toBe("loaded");
});

test("a project that is rebuilt shows nothing until it is loaded again, and never counts as one that is not in memory", async () => {
  const settling = [Promise.resolve()];
  const never = Promise.withResolvers<void>().promise;
  const { projects, loaded } = openProjects({ index: { settle: () => settling.shift() ?? never } });
  await projects.load("p");
  expect([projects.applied("p"), projects.ids()]).toEqual([1, ["p"]]);
  void projects.rebuild("p");
  // Before its old indexes are dropped, and while it is read from the database again.
  for (let turn = 0; turn < 8; turn++) {
    expect([projects.applied("p"), projects.ids()]).toEqual([-1, ["p"]]);
    await turns(1);
  }
  expect(loaded).toEqual(["p"]);
});

test("a rebuild waits for a restore that it interrupts, whose versions are in another table", async () => {
  const snapshots = new SnapshotStore(temporaryFolder("projects"));
  const origin = { databaseId: "d", anchor: { seq: 1, at: "" }, seq: 1 };
  await snapshots.write("p", origin, [indexOfEqualProjects()]);
  const restoring = Promise.withResolvers<void>();
  const steps: string[] = [];
  const index = {
    restore() {
      steps.push("restore");
      return restoring.promise.finally(() => steps.push("restored"));
    },
    openProject: () => void steps.push("open"),
    dropProject: () => void steps.push("drop"),
  };
  const { projects } = openProjects({ index, snapshots });
  const first = projects.load("p");
  await turns();
  const rebuilt = projects.rebuild("p");
  await turns();
  expect(steps).toEqual(["restore"]);
  restoring.resolve();
  expect(await first).toBe("dropped");
  await rebuilt;
  expect(steps).toEqual(["restore", "restored", "drop", "open"]);
});

test("a rebuild begins when the indexes from before it are dropped, also where one rebuild interrupts another", async () => {
  const calls: string[] = [];
  const fake = indexOfEqualProjects();
  const index: Partial<VersionIndex> = {
    ...fake,
    openProject(id, table) {
      calls.push("open");
      fake.openProject(id, table);
    },
    dropProject(id) {
      calls.push("drop");
      fake.dropProject(id);
    },
  };
  const reading = Promise.withResolvers<string[]>();
  const reads = [Promise.resolve<string[]>([]), reading.promise];
  const { projects } = openProjects({
    index,
    versionsOf: () => reads.shift() ?? Promise.resolve([]),
  });
  await projects.load("p");
  await projects.reindexAll();
  await turns();
  // The old indexes are in use until their scope is read.
  const rebuilds = [projects.rebuild("p"), projects.rebuild("p")];
  await turns(8);
  expect(calls).toEqual(["open"]);
  reading.resolve([]);
  await turns();
  rebuilds.push(projects.rebuild("p"));
  await Promise.all(rebuilds);
  expect(projects.applied("p")).toBe(1);
  expect(calls.at(-1)).toBe("open");
  // A project opens again only after it was dropped.
  expect(calls.join(" ")).not.toContain("open open");
});

test("in a log that was set back a project shows nothing, and has no snapshot, until its scopes were read again", async () => {
  const reading = Promise.withResolvers<string[]>();
  const reads = [Promise.resolve<string[]>([]), reading.promise];
  let snapshots = 0;
  const snapshot = async () => {
    snapshots++;
    return [];
  };
  const { projects } = openProjects({
    index: { snapshot },
    versionsOf: () => reads.shift() ?? Promise.resolve([]),
  });
  await projects.load("p");
  await projects.reindexAll();
  await turns();
  expect(projects.applied("p")).toBe(-1);
  expect([await projects.saveOne(() => true), snapshots]).toEqual([false, 0]);
  reading.resolve([]);
  await turns();
  expect(projects.applied("p")).toBe(1);
  expect([await projects.saveOne(() => true), snapshots]).toEqual([true, 1]);
});
