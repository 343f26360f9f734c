import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Transaction } from "../../src/db/client.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { allChanged, file, importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const owner = await api.user();
const { report } = importsOf(api, owner);

/** Creates a row of a project as another client does. */
const creating = (table: "files" | "releases", { id }: TestProject, name: string) => {
  const column = table === "files" ? "path" : "name";
  return (tx: Transaction) => tx`
    INSERT INTO ${tx(table)} (id, project_id, ${tx(column)}) VALUES (${randomUUID()}, ${id}, ${name})`;
};

/** Imports lines while others change rows. They commit one after the other, each once the import waits for it. */
function reportAmid(
  project: TestProject,
  lines: readonly object[],
  changes: readonly ReturnType<typeof creating>[],
) {
  const importing = () => report(project, lines);
  const amid = changes.reduceRight(
    (request, change) => () => beforeCommit(api.sql, change, request),
    importing,
  );
  return amid();
}

describe("an import of files that others create at the same time", () => {
  test("stores all of them, whichever is created first", async () => {
    const project = await api.project(owner);
    await report(project, [PRODUCTION]);
    const names = ["a.md", "b.md"];
    const changes = names.map((name) => creating("files", project, name));
    const lines = names.map((name) => file(name));
    expect(await reportAmid(project, lines, changes)).toEqual(allChanged(2));
  });

  test("stores a file although its releases and the file itself are created one after the other", async () => {
    const project = await api.project(owner);
    await report(project, [PRODUCTION]);
    const changes = [
      creating("releases", project, "v1"),
      creating("releases", project, "v2"),
      creating("files", project, "a.md"),
    ];
    const lines = [file("a.md", { releases: ["v1", "v2"] })];
    expect(await reportAmid(project, lines, changes)).toEqual(allChanged(1));
  });
});
