import { expect, test } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import { Indexer } from "../../../src/index/indexer.ts";
import { buildSegment, type TextMessage, ViewStore } from "../../../src/index/segments/index.ts";
import { createLog } from "../../../src/ops/observability/log.ts";
import { temporaryFolder } from "../../../support/folders.ts";

/** The thread ends at once with an error, because it cannot read this address. */
const BROKEN_ADDRESS = "postgres://:not-a-port/";

const scopeOf = (projectId: string): Scope => ({
  projectId,
  id: "scope",
  kind: "environment",
  tenant: projectId,
  frozen: false,
});

function openIndexer(onParked?: (projectId: string, task: string) => void): Indexer {
  const options: ConstructorParameters<typeof Indexer>[1] = {
    databaseUrl: BROKEN_ADDRESS,
    logLevel: "silent",
    memoryBudget: 1,
    preload: "none",
    vectors: false,
    failpoints: [],
  };
  return new Indexer(temporaryFolder("indexer-"), options, createLog("silent"), onParked);
}

test("what an indexing thread published is dropped when the thread ends", async () => {
  const views = new ViewStore();
  const document = { id: "1", path: "a.md", title: "", headings: [], frontmatter: [], content: "" };
  const segment = { key: "segment", buffer: buildSegment([document]) };
  const member = { key: "segment", documents: Uint32Array.of(1) };
  const publish = (message: TextMessage) => views.receive(message);
  const scopes = [{ scopeId: "scope", members: [member] }];
  publish({ type: "segments", projectId: "project", add: [segment], remove: [], scopes });
  expect(views.view("project", "scope")?.segments).toEqual([segment]);

  const indexer = openIndexer();
  const ended = Promise.withResolvers<void>();
  indexer.subscribe("text", {
    receive: (message) => views.receive(message as TextMessage),
    clear: () => {
      views.clear();
      ended.resolve();
    },
  });
  await ended.promise;
  expect(views.view("project", "scope")).toBeUndefined();
  // The next thread numbers its segments anew: a scope has none of those that are gone.
  publish({ type: "scope", projectId: "project", scopeId: "scope", members: [member] });
  expect(views.view("project", "scope")?.segments).toEqual([]);
  await indexer.close();
});

test("a project whose tasks end the indexing thread twice is answered 503 at once for a while and counted, and others are asked", async () => {
  const counted: string[] = [];
  const indexer = openIndexer((projectId, task) => counted.push(`${task} of ${projectId}`));
  const ask = (projectId: string) =>
    indexer.loaderFor("text").ensureWithin(scopeOf(projectId), 60_000);
  const refused = { slug: "dependency-unavailable" };
  await expect(ask("poison")).rejects.toMatchObject(refused);
  expect(counted).toEqual(["ensure of poison"]);
  // A parked project is refused before another thread has started.
  const parked = ask("poison").catch((error: unknown) => error);
  const other = ask("other").catch((error: unknown) => error);
  expect(await Promise.race([parked.then(() => "parked"), other.then(() => "other")])).toBe(
    "parked",
  );
  expect(await parked).toMatchObject(refused);
  expect(indexer.pendingLoads).toBe(1);
  await other;
  expect(indexer.pendingLoads).toBe(0);
  await indexer.close();
});
