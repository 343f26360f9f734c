import { expect, test } from "bun:test";
import type { ScopeRef } from "../../../../src/domain/scope.ts";
import { ProjectIndexer } from "../../../../src/index/projects/project-indexer.ts";
import type { ProjectSink } from "../../../../src/index/projects/project-sink.ts";
import { UnknownVersion } from "../../../../src/index/versions/version-table.ts";
import { createLog } from "../../../../src/ops/observability/log.ts";
import { turns } from "../../../../support/fake-clock.ts";

const scope = (id: string): ScopeRef => ({ id, kind: "environment" });

/** What a project holds, in place of indexes: all of it is noted in `done`. */
function openSink(given: Partial<ProjectSink> = {}) {
  const [known, indexed, done] = [new Set<string>(), new Set<string>(), [] as string[]];
  const sink: ProjectSink = {
    slicesAtOnce: 1,
    announcedSlices: 1,
    exclusively: (step) => step(),
    limited: (_, work) => work(),
    unknown: (versions) => versions.filter((version) => !known.has(version)),
    async add(versions) {
      for (const version of versions) known.add(version);
      done.push("added");
    },
    async readAgain(versions) {
      await turns(1);
      given.readAgain?.(versions);
      done.push("read again");
      for (const version of versions) known.delete(version);
    },
    setScope(id, versions) {
      given.setScope?.(id, versions);
      done.push("set");
      indexed.add(id);
    },
    dropScope() {},
  };
  return { sink, indexed, done };
}

function openWith(sink: ProjectSink, versionsOf: (of: ScopeRef) => Promise<string[]>) {
  const changes = {
    versionsOf: (_: string, of: ScopeRef) => versionsOf(of),
    scopesHolding: async () => [scope("a")],
  };
  const context = { changes, log: createLog("silent") } as never;
  const indexer = new ProjectIndexer("project", context, sink);
  indexer.open();
  return indexer;
}

/** An indexer whose project has empty scopes only; `onRead` is called when one of them is read. */
function openIndexer(onRead: (indexer: ProjectIndexer) => void) {
  const { sink, indexed } = openSink();
  const indexer: ProjectIndexer = openWith(sink, async () => {
    await turns(1);
    onRead(indexer);
    return [];
  });
  return { indexer, indexed };
}

test("a project is loaded although changes never pause", async () => {
  const { indexer, indexed } = openIndexer((own) => own.mark(scope("busy"), 2));
  await indexer.load([scope("a"), scope("b")], 1);
  expect(indexed).toContain("a");
  expect(indexed).toContain("b");
  expect(indexer.isBusy).toBe(true);
  await indexer.close();
});

test("loading ends when the project is closed", async () => {
  const { indexer } = openIndexer((own) => void own.close());
  await indexer.load([scope("a"), scope("b")], 1);
  await indexer.load([scope("c")], 1);
  expect(indexer.isBusy).toBe(false);
});

test("nobody waits for a scope of a project that is closed", async () => {
  const { indexer, indexed } = openIndexer(() => {});
  await indexer.close();
  await indexer.reindex(scope("a"), 1);
  expect(indexed).not.toContain("a");
});

test("embeddings count as applied only when the scope shows them that a later change has made the next one", async () => {
  const oldest: (number | undefined)[] = [];
  const { indexer } = openIndexer((own) => {
    oldest.push(own.oldestPending);
    if (oldest.length > 1) return;
    own.readAgain("version", 5);
    own.mark(scope("a"), 9);
  });
  await indexer.reindex(scope("b"), 1);
  await indexer.idle();
  expect(oldest).toEqual([1, 5]);
  expect(indexer.oldestPending).toBeUndefined();
});

test("a scope that is asked for while another one preempts a long one is waited for until it is indexed", async () => {
  /** So many that they are added in several slices, between which other scopes have their turn. */
  const versions = Array.from({ length: 100 }, (_, i) => `version-${i}`);
  const { sink, indexed } = openSink();
  const all = ["long", "first", "second"].map(scope);
  let loading: Promise<void> | undefined;
  const indexer: ProjectIndexer = openWith(sink, async ({ id }) => {
    if (id === "first") loading ??= indexer.load(all, 3);
    return versions;
  });
  all.forEach((each, i) => {
    indexer.mark(each, i + 1);
  });
  await indexer.idle();
  let isLoaded = false;
  void loading?.then(() => {
    isLoaded = true;
  });
  await turns();
  expect([...indexed].sort()).toEqual(["first", "long", "second"]);
  expect(isLoaded).toBe(true);
});

/** An indexer of one scope that holds a version, with whose steps the test may interfere. */
function openScope(step: Partial<Record<"readAgain" | "setScope", (times: number) => void>>) {
  const times = { readAgain: 0, setScope: 0 };
  const { sink, done } = openSink({
    readAgain: () => step.readAgain?.(++times.readAgain),
    setScope: () => step.setScope?.(++times.setScope),
  });
  return { indexer: openWith(sink, async () => ["version"]), done };
}

test("embeddings that arrive while earlier ones of the version are read are read as well", async () => {
  const { indexer, done } = openScope({
    readAgain(times) {
      if (times === 1) indexer.readAgain("version", 7);
    },
  });
  indexer.readAgain("version", 5);
  await indexer.idle();
  expect(done).toEqual(["read again", "read again", "added", "set"]);
  expect(indexer.oldestPending).toBeUndefined();
});

test("embeddings that arrive during the last step are read after it", async () => {
  const { indexer, done } = openScope({
    setScope(times) {
      if (times === 1) indexer.readAgain("version", 5);
    },
  });
  await indexer.reindex(scope("a"), 1);
  await indexer.idle();
  expect(done).toEqual(["added", "set", "read again", "added", "set"]);
});

test("a scope of which maintenance has removed a version meanwhile is indexed again, and waited for", async () => {
  const { indexer, done } = openScope({
    setScope(times) {
      if (times === 1) throw new UnknownVersion();
    },
  });
  await indexer.reindex(scope("a"), 1);
  expect(done).toEqual(["added", "set"]);
});
