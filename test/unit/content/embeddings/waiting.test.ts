import { expect, test } from "bun:test";
import { countWaiting } from "../../../../src/content/embeddings/queue/queries.ts";
import { addProject, addUser } from "../../../../support/accounts.ts";
import { writeVersion } from "../../../../support/api/versions.ts";
import { openTransaction } from "../../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

test("a file that is stored while its project gets an embedder waits for it", async () => {
  const { sql } = await createTestDatabase();
  const project = await addProject(sql, await addUser(sql));
  // Without a text that the change of the embedder would find.
  const { id } = await writeVersion(sql, project, "a.md", " ");
  const change = await openTransaction(sql, (tx) => {
    return tx`UPDATE projects SET embedder = 'model:model:768' WHERE id = ${project.id}`;
  });
  const waiting = sql`
    INSERT INTO embedding_queue (file_version_id, project_id) VALUES (${id}, ${project.id})`.execute();
  await change.awaitedBy(1);
  await change.commit();
  await waiting;
  expect(await countWaiting(sql, project.id)).toBe(1);
});
