import { expect, test } from "bun:test";
import { claim, readEmbeddedPositions } from "../../../../src/content/embeddings/queue/queries.ts";
import { addProject, addUser } from "../../../../support/accounts.ts";
import { writeVersion } from "../../../../support/api/versions.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

test("a file that is claimed after a read of the queue has begun is waited for", async () => {
  const { sql } = await createTestDatabase();
  const project = await addProject(sql, await addUser(sql));
  const { id } = await writeVersion(sql, project, "a.md", "A river.");
  await sql`UPDATE projects SET embedder = 'hashing:hashing:768' WHERE id = ${project.id}`;
  await sql.begin(async (tx) => {
    // The time of the transaction, which a busy machine may pause between its time and its snapshot.
    await tx`SELECT now()`;
    expect(await claim(sql, project.id)).toEqual([id]);
    const positions = await readEmbeddedPositions(tx as never, [project.id]);
    expect(positions.get(project.id)).toMatchObject({
      oldest: expect.any(Number),
      newest: expect.any(Number),
    });
  });
});
