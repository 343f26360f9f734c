import { expect, test } from "bun:test";
import { Indexer } from "../../../src/indexing/indexer.ts";
import { createLog } from "../../../src/observability/log.ts";
import { buildSegment, type TextMessage, ViewStore } from "../../../src/text/index.ts";
import { temporaryFolder } from "../../../support/folders.ts";

/** The thread ends at once with an error, because it cannot read this address. */
const BROKEN_ADDRESS = "postgres://:not-a-port/";

test("what an indexing thread published is dropped when the thread ends", async () => {
  const views = new ViewStore();
  const document = { id: "1", path: "a.md", title: "", headings: [], frontmatter: [], content: "" };
  const segment = { key: "segment", buffer: buildSegment([document]) };
  const member = { key: "segment", documents: Uint32Array.of(1) };
  const publish = (message: TextMessage) => views.receive(message);
  const scopes = [{ scopeId: "scope", members: [member] }];
  publish({ type: "segments", projectId: "project", add: [segment], remove: [], scopes });
  expect(views.view("project", "scope")?.segments).toEqual([segment]);

  const indexer = new Indexer(
    temporaryFolder("indexer-"),
    {
      databaseUrl: BROKEN_ADDRESS,
      logLevel: "silent",
      memoryBudget: 1,
      preload: "none",
      vectors: false,
      failpoints: [],
    },
    createLog("silent"),
  );
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
