import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { allChanged, file, importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { addConversation } from "../../support/content.ts";
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

test("an import counts the messages of conversations in the order of their ids", async () => {
  const project = await api.project(owner);
  const ids = Array.from({ length: 20 }, () => randomUUID()).sort();
  await report(
    project,
    ids.map((id) => ({ record: "conversation", id, created_by: "somebody" })),
  );
  const { commit, awaitedBy } = await openTransaction(
    sql,
    (tx) => tx`SELECT FROM conversations WHERE id = ${ids[0] as string} FOR NO KEY UPDATE`,
  );
  const message = { record: "message", seq: 1, role: "user" };
  const importing = report(
    project,
    ids.toReversed().map((conversation_id) => ({ ...message, conversation_id })),
  );
  await awaitedBy(1);
  const free = await sql`
    SELECT FROM conversations WHERE id = ANY (${ids}::uuid[]) FOR NO KEY UPDATE SKIP LOCKED`;
  expect(free).toHaveLength(ids.length - 1);
  await commit();
  expect(await importing).toEqual(allChanged(ids.length));
});

test("an import locks no conversation of another project that it names", async () => {
  const [project, other] = [await api.project(owner), await api.project(await api.user())];
  const conversation = await addConversation(sql, owner, other);
  const id = `hook-${randomUUID()}`;
  const { commit, awaitedBy } = await openTransaction(
    sql,
    (tx) => tx`
      INSERT INTO webhook_definitions (id, name, project_id, secret_hash)
      VALUES (${id}, ${id}, ${project.id}, sha256('s'))`,
  );
  const importing = report(project, [
    { record: "message", conversation_id: conversation, seq: 1, role: "user" },
    { record: "webhook_definition", id, secret: "s" },
  ]);
  await awaitedBy(1);
  const free = await sql`
    SELECT FROM conversations WHERE id = ${conversation} FOR UPDATE SKIP LOCKED`;
  expect(free).toHaveLength(1);
  await commit();
  expect(await importing).toMatchObject({ refused: 1, errors: [{ line: 1 }] });
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
      record: "project",
      slug,
      name: "P",
      owner: owner.userId,
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
