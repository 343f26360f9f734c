import { expect, test } from "bun:test";
import { addEnvironment, addProject, addUser } from "../../../support/accounts.ts";
import { addFile } from "../../../support/content.ts";
import { beforeCommit } from "../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();

test("a change is not visible in the log before those with lower numbers are", async () => {
  const project = await addProject(sql, await addUser(sql));
  const { fileId, versionId } = await addFile(sql, project, "a.md", 1);
  const [first, second] = [
    await addEnvironment(sql, project, "first"),
    await addEnvironment(sql, project, "second"),
  ];
  const change = (on: typeof sql, { id }: typeof first) => on`
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    VALUES (${project.id}, ${id}, ${fileId}, ${versionId})`;
  const [last] = await sql<{ seq: string }[]>`SELECT max(seq) AS seq FROM change_log`;
  const seen = await beforeCommit(
    sql,
    async (tx) => {
      await change(tx as unknown as typeof sql, first);
      // What the commit does first: the change gets its number.
      await tx`SET CONSTRAINTS ALL IMMEDIATE`;
    },
    async () => {
      await change(sql, second);
      return await sql`
        SELECT ref FROM change_log WHERE seq > ${last?.seq ?? 0} AND kind = 'environment' ORDER BY seq`;
    },
  );
  expect([...seen]).toEqual([{ ref: first.id }, { ref: second.id }]);
});
