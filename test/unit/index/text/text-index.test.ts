import { describe, expect, test } from "bun:test";
import { type TextMessage, ViewStore } from "../../../../src/index/segments/index.ts";
import { TextIndex } from "../../../../src/index/text/text-index.ts";
import type { DocumentRow, VersionReader } from "../../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { lookUp } from "../../../../support/requests.ts";
import { pathsOf, type TextHit } from "../../../../support/text-search.ts";
import { restore, save } from "../saved.ts";
import { membersOf, tableOf } from "../tables.ts";

const PROJECT = "project";

/** Reads versions from a map in the form in which the database returns them. */
function readerOf(documents: ReadonlyMap<string, DocumentRow>): VersionReader {
  return {
    async *chunks() {},
    async *documents(ids) {
      yield ids.flatMap((id) => documents.get(id) ?? []);
    },
    async *fields() {},
  };
}

function document(id: string, path: string, content: string): [string, DocumentRow] {
  return [id, { file_version_id: id, path, content }];
}

interface Side {
  readonly index: TextIndex;
  readonly views: ViewStore;
  readonly table: VersionTable;
}

function open(table = new VersionTable()): Side {
  const views = new ViewStore();
  const index = new TextIndex((message: TextMessage) => views.receive(message));
  return { index, views, table };
}

function setScope({ index, table }: Side, scopeId: string, ids: readonly string[]): void {
  index.setScope(PROJECT, scopeId, membersOf(table, ids));
  table.setScope(scopeId, table.setOf(ids));
}

/** The paths that a worker returns: all of a scope, or those that match a query. */
function pathsIn({ views }: Side, scope: string, query: string | null = null): string[] {
  const view = views.view(PROJECT, scope);
  if (view === undefined) return [];
  const { json } = lookUp(view, query, { limit: 10_000 });
  const page = JSON.parse(new TextDecoder().decode(json)) as { data: TextHit[] };
  return pathsOf(page.data);
}

async function filled(): Promise<Side> {
  const side = open(tableOf("1", "2", "3"));
  const documents = new Map([
    document("1", "a.md", "# Alpha\n\nfirst words"),
    document("2", "b.md", "# Beta\n\nsecond words"),
    document("3", "c.txt", "third words"),
  ]);
  side.index.openProject(PROJECT, side.table);
  await side.index.add(PROJECT, ["1", "2", "3"], readerOf(documents));
  setScope(side, "one", ["1", "3"]);
  setScope(side, "both", ["1", "2"]);
  return side;
}

describe("TextIndex", () => {
  test("a lookup finds exactly the Markdown files of its scope", async () => {
    const side = await filled();
    expect(pathsIn(side, "one")).toEqual(["a.md"]);
    expect(pathsIn(side, "both")).toEqual(["a.md", "b.md"]);
    expect(pathsIn(side, "both", "second")).toEqual(["b.md"]);
  });

  test("a version that gets embeddings keeps its document, before and after scopes have its new number", async () => {
    const side = await filled();
    const { index, table } = side;
    const before = membersOf(table, ["1"]);
    table.readAgain(["1", "3"]);
    for (const id of ["1", "3"]) table.append(id, [768, 768]);
    await index.add(PROJECT, ["1", "3"], {
      ...readerOf(new Map()),
      documents() {
        throw new Error("the text is read again");
      },
    });
    index.setScope(PROJECT, "one#filter", before);
    expect(pathsIn(side, "one#filter")).toEqual(["a.md"]);
    index.moveNumbers(PROJECT, table.added(["1", "3"]));
    expect(pathsIn(side, "both")).toEqual(["a.md", "b.md"]);
    setScope(side, "both", ["1", "2", "3"]);
    expect(pathsIn(side, "both")).toEqual(["a.md", "b.md"]);
    expect(pathsIn(side, "both", "words")).toEqual(["a.md", "b.md"]);
  });

  test("a dropped project and a dropped scope are no longer known", async () => {
    const side = await filled();
    side.index.dropScope(PROJECT, "one");
    expect(side.views.view(PROJECT, "one")).toBeUndefined();
    side.index.dropProject(PROJECT);
    expect(side.views.view(PROJECT, "both")).toBeUndefined();
  });
});

describe("a text snapshot", () => {
  test("a text snapshot restores the same scopes, also after several rounds", async () => {
    const folder = temporaryFolder("text");
    const side = await filled();
    await save(folder, PROJECT, side.index);
    await save(folder, PROJECT, side.index);
    // The index of fields has restored the table, which got a version since the texts were written.
    const later = open(tableOf("4", "3", "2", "1"));
    later.table.setScope("one", later.table.setOf(["1", "3"]));
    later.table.setScope("both", later.table.setOf(["1", "2", "4"]));
    await restore(folder, PROJECT, [later.index], later.table);
    expect(pathsIn(later, "one")).toEqual(["a.md"]);
    expect(pathsIn(later, "both", "words")).toEqual(["a.md", "b.md"]);
    expect(later.table.unknown()).toEqual(["4"]);
  });
});

test("while many documents are added, their segments are merged, so that the first lookups meet few", async () => {
  const SEGMENTS = 24;
  // Each is as long as the text of a new segment.
  const content = "some words ".repeat(100_000);
  const ids = Array.from({ length: SEGMENTS }, (_, i) => String(i));
  const side = open(tableOf(...ids));
  const documents = new Map(ids.map((id) => document(id, `${id}.md`, `${content} w${id}x`)));
  side.index.openProject(PROJECT, side.table);
  for (const id of ids) await side.index.add(PROJECT, [id], readerOf(documents));
  setScope(side, "scope", ids);
  const segments = side.views.view(PROJECT, "scope")?.segments ?? [];
  expect(segments.length).toBeLessThan(SEGMENTS);
  expect(segments.length).toBeGreaterThan(0);
  for (const id of ids) expect(pathsIn(side, "scope", `w${id}x`)).toEqual([`${id}.md`]);
});

test("a project that was just indexed meets its first lookups with few segments, and finds the same", async () => {
  const SEGMENTS = 8;
  // Long enough to be built and merged on other threads.
  const content = "some words ".repeat(8_000);
  const ids = Array.from({ length: SEGMENTS }, (_, i) => String(i));
  const side = open(tableOf(...ids));
  const documents = new Map(ids.map((id) => document(id, `${id}.md`, `${content} w${id}x`)));
  side.index.openProject(PROJECT, side.table);
  for (const id of ids) await side.index.add(PROJECT, [id], readerOf(documents));
  setScope(side, "scope", ids);
  expect(side.views.view(PROJECT, "scope")?.segments.length).toBe(SEGMENTS);
  await side.index.settle(PROJECT);
  expect(side.views.view(PROJECT, "scope")?.segments.length).toBe(1);
  for (const id of ids) expect(pathsIn(side, "scope", `w${id}x`)).toEqual([`${id}.md`]);
  await side.index.settle("dropped");
});
