import { describe, expect, test } from "bun:test";
import { OPERATOR } from "../../../../src/auth/audit/actor.ts";
import { importRecords } from "../../../../src/content/import/import-records.ts";
import type { InputRecord } from "../../../../src/content/import/records/batches.ts";
import { parseRecord } from "../../../../src/content/import/records/parse.ts";
import { addEnvironment, addProject, addUser } from "../../../../support/accounts.ts";
import { openTransaction } from "../../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";
import { until } from "../../../../support/until.ts";

const { sql } = await createTestDatabase();
const owner = await addUser(sql);

const inputs = (records: readonly object[]): InputRecord[] =>
  records.map((record, i) => ({ where: `:${i + 1}`, parsed: parseRecord(record) }));

function importing(batches: AsyncIterable<InputRecord[]>, strict: boolean) {
  return importRecords(sql, batches, { actor: OPERATOR, strict, onRejected() {} });
}

/** Imports a version of a file. */
async function* fileIn(project: string, content: string) {
  yield inputs([{ record: "file", project, path: "a.md", environments: ["production"], content }]);
}

/** The environments of a project, and the versions of its files. */
async function storedIn(project: string) {
  const [row] = await sql<[{ environments: number; versions: number; served: string | null }]>`
    SELECT (SELECT count(*)::integer FROM environments WHERE project_id = ${project}) AS environments,
      (SELECT count(*)::integer FROM file_versions WHERE project_id = ${project}) AS versions,
      (SELECT v.content FROM environment_files e JOIN file_versions v ON v.id = e.file_version_id
        WHERE e.project_id = ${project}) AS served`;
  return { ...row };
}

describe("an input that breaks off while a batch of it is written", () => {
  test.each([
    ["leaves nothing of an import that is one transaction", true, 0],
    ["leaves the whole batch of any other one, and no change of a scope", false, 1],
  ])("%s", async (_, strict, added) => {
    const { id: project } = await addProject(sql, owner);
    await addEnvironment(sql, { id: project, slug: "" });
    await importing(fileIn(project, "old"), false);
    const { commit, awaitedBy } = await openTransaction(
      sql,
      (tx) => tx`LOCK TABLE environments IN EXCLUSIVE MODE`,
    );
    async function* input() {
      yield inputs([
        { record: "environment", project, name: "staging" },
        { record: "file", project, path: "a.md", environments: ["production"], content: "new" },
      ]);
      await awaitedBy(1);
      void commit();
      throw new Error("the input is lost");
    }
    await expect(importing(input(), strict)).rejects.toThrow("the input is lost");
    expect(await storedIn(project)).toEqual({
      environments: 1 + added,
      versions: 1 + added,
      served: "old",
    });
  });
});

test("an import whose new project is deleted before it ends says so", async () => {
  const slug = `p-${crypto.randomUUID()}`;
  async function* input() {
    yield inputs([
      { record: "project", slug, name: "P", owner },
      { record: "environment", project: slug, name: "production" },
      { record: "file", project: slug, path: "a.md", environments: ["production"], content: "a" },
    ]);
    const deleted = async () => (await sql`DELETE FROM projects WHERE slug = ${slug}`).count === 1;
    await until("the batch is stored, and its project is deleted", deleted);
  }
  await expect(importing(input(), false)).rejects.toThrow("has been deleted meanwhile");
});
