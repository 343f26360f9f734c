import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { allChanged, file, importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { openTransaction } from "../../support/open-transaction.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user();
const { report, working } = importsOf(api, owner);

test("an import takes files in the order of their paths, whatever the order of its lines", async () => {
  const project = await api.project(owner);
  await report(project, [PRODUCTION]);
  const insert = (path: string) => sql`
    INSERT INTO files (id, project_id, path) VALUES (${randomUUID()}, ${project.id}, ${path})`;
  const { commit, awaitedBy } = await openTransaction(
    sql,
    (tx) => tx`
      INSERT INTO files (id, project_id, path) VALUES (${randomUUID()}, ${project.id}, 'a.md')`,
  );
  const importing = report(project, [file("z.md"), file("a.md")]);
  await awaitedBy(1);
  // It would wait for the import, which waits for the transaction, if the import had the file already.
  await insert("z.md");
  await commit();
  expect(await importing).toEqual(allChanged(2));
  expect(await working(project)).toEqual(["a.md", "z.md"]);
});

test("an import changes a working set after others have", async () => {
  const project = await api.project(owner);
  await report(project, [PRODUCTION, file("a.md")]);
  const { commit, awaitedBy } = await openTransaction(
    sql,
    (tx) => tx`SELECT FROM environments WHERE project_id = ${project.id} FOR NO KEY UPDATE`,
  );
  const importing = report(project, [
    file("b.md"),
    { record: "file", path: "a.md", environments: ["production"], deleted: true },
  ]);
  await awaitedBy(1);
  expect(await working(project)).toEqual(["a.md"]);
  await commit();
  expect(await importing).toEqual(allChanged(2));
  expect(await working(project)).toEqual(["b.md"]);
});

test("a file is put into many environments in one transaction", async () => {
  const project = await api.project(owner);
  const environments = Array.from({ length: 500 }, (_, i) => `e${i}`);
  await report(
    project,
    environments.map((name) => ({ record: "environment", name })),
  );
  expect(await report(project, [file("a.md", { environments })])).toEqual(allChanged(1));
  const [row] = await sql`
    SELECT count(*)::integer AS files, count(DISTINCT xmin::text)::integer AS transactions
    FROM environment_files WHERE project_id = ${project.id}`;
  expect(row).toEqual({ files: environments.length, transactions: 1 });
});

test("only the line that PostgreSQL refuses is refused, wherever it is among others", async () => {
  for (const place of [0, 5, 12]) {
    const project = await api.project(owner);
    await report(project, [PRODUCTION, file("first.md")]);
    const lines: object[] = Array.from({ length: 12 }, (_, i) => file(`${i}.md`));
    const { slug } = project;
    lines.splice(place, 0, {
      ...{ record: "project", slug, name: "P", owner: owner.userId },
      embedder: "hashing",
    });
    expect(await report(project, lines)).toMatchObject({
      changed: 12,
      refused: 1,
      errors: [{ line: place + 1, message: expect.stringContaining("has chunks of the embedder") }],
    });
    expect(await working(project)).toHaveLength(13);
  }
});
