import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import { FieldIndex } from "../../../../src/indexing/fields/field-index.ts";
import type { IndexingContext } from "../../../../src/indexing/projects/indexing-context.ts";
import { LoadedProjects } from "../../../../src/indexing/projects/loaded-projects.ts";
import { SnapshotStore } from "../../../../src/indexing/snapshots/snapshot-store.ts";
import type { VersionIndex } from "../../../../src/indexing/versions/version-index.ts";
import { createLog } from "../../../../src/observability/log.ts";
import { INDEX_LOADED_MIN_MS, INDEX_RETRY_BASE_MS } from "../../../../src/shared/limits.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

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
    hasScope: (id: string, scope: string) => scopes.get(id)?.has(scope) === true,
    setScope: (id: string, scope: string) => scopes.get(id)?.add(scope),
    dropProject: (id: string) => scopes.delete(id),
    stats: (id: string) => (scopes.has(id) ? [{ dimension: 0, bytes: PROJECT_BYTES }] : []),
    snapshot: async () => {},
  } as unknown as VersionIndex;
}

test("when memory is short, the projects of the tenant who holds the most of it are evicted, also before those that were used longer ago", async () => {
  const scope = { id: randomUUID(), kind: "environment" as const };
  const evicted: string[] = [];
  const context = {
    log: createLog("silent"),
    indexes: [indexOfEqualProjects()],
    fields: new FieldIndex(),
    changes: { scopesOf: async () => [scope], versionsOf: async () => [] },
    reader: {},
    snapshots: new SnapshotStore(temporaryFolder("shared-memory")),
    databaseId: "d",
    anchor: () => ({ seq: 1, at: "" }),
    bulk: pLimit(1),
  } as unknown as IndexingContext;
  const events = { loaded() {}, evicted: (id: string) => evicted.push(id) };
  const projects = new LoadedProjects(context, events, BUDGET_BYTES);
  expect(await projects.ensure({ projectId: "modest", scope, tenant: "modest", indexes: [] })).toBe(
    true,
  );
  const ensureGreedy = (i: number) =>
    projects.ensure({ projectId: `greedy-${i}`, scope, tenant: "greedy", indexes: [] });
  for (let i = 0; i < GREEDY_PROJECTS; i++) {
    expect(await ensureGreedy(i)).toBe(true);
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
  const scope = { id: randomUUID(), kind: "environment" as const };
  const done: string[] = [];
  const index = {
    ...indexOfEqualProjects(),
    async settle(id: string) {
      await turns();
      done.push(`settled ${id}`);
    },
  };
  const context = {
    log: createLog("silent"),
    indexes: [index],
    fields: new FieldIndex(),
    changes: { scopesOf: async () => [scope], versionsOf: async () => [] },
    reader: {},
    snapshots: new SnapshotStore(temporaryFolder("settled")),
    databaseId: "d",
    anchor: () => ({ seq: 1, at: "" }),
    bulk: pLimit(1),
  } as unknown as IndexingContext;
  const events = { loaded: () => done.push("ready"), evicted() {} };
  const projects = new LoadedProjects(context, events, BUDGET_BYTES);
  await projects.ensure({ projectId: "p", scope, tenant: "t", indexes: [] });
  expect(done).toEqual(["settled p", "ready"]);
});

test("a project that cannot be loaded delays those after it for two attempts, and is loaded once it can be", async () => {
  const scope = { id: randomUUID(), kind: "environment" as const };
  let attempts = 0;
  let isBroken = true;
  const context = {
    log: createLog("silent"),
    indexes: [indexOfEqualProjects()],
    fields: new FieldIndex(),
    changes: {
      async scopesOf(id: string) {
        if (id !== "broken") return [scope];
        attempts++;
        if (isBroken) throw new TypeError("fails on purpose");
        return [scope];
      },
      versionsOf: async () => [],
    },
    reader: {},
    snapshots: new SnapshotStore(temporaryFolder("broken")),
    databaseId: "d",
    anchor: () => ({ seq: 1, at: "" }),
    bulk: pLimit(1),
  } as unknown as IndexingContext;
  const loaded: string[] = [];
  const events = { loaded: (id: string) => loaded.push(id), evicted() {} };
  const projects = new LoadedProjects(context, events, BUDGET_BYTES);
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
