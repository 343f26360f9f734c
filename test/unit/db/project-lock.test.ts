import { expect, test } from "bun:test";
import type { Principal } from "../../../src/auth/principal.ts";
import { holdWritableProject } from "../../../src/auth/project-access.ts";
import { removeProject } from "../../../src/content/projects/change.ts";
import type { Transaction } from "../../../src/db/client.ts";
import { beginDeletion, holdProject, holdProjects } from "../../../src/db/project-lock.ts";
import { addProject, addUser } from "../../../support/accounts.ts";
import { beforeCommit } from "../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();
const owner = await addUser(sql);
const principal: Principal = {
  userId: owner,
  identity: null,
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
};

/** How a transaction ends: with its result, or the slug of its problem. */
const outcomeOf = <T>(work: (tx: Transaction) => Promise<T>) =>
  sql.begin((tx) => work(tx as Transaction)).catch(({ slug }) => slug);

test("while a project is being deleted, every other transaction that needs it is refused at once", async () => {
  const { id } = await addProject(sql, owner);
  await sql.begin(async (deletion) => {
    await beginDeletion(deletion as Transaction, id);
    const gone = "project-not-found";
    expect(await outcomeOf((tx) => holdProject(tx, id))).toBe(gone);
    expect(await outcomeOf((tx) => beginDeletion(tx, id))).toBe(gone);
    expect(await outcomeOf((tx) => holdWritableProject(tx, principal, id))).toBe(gone);
    expect(await outcomeOf((tx) => holdProjects(tx, [id]))).toBe(false);
  });
  expect(await outcomeOf((tx) => holdWritableProject(tx, principal, id))).toMatchObject({ id });
});

test("a project is deleted only after the transactions that write to it", async () => {
  const { id } = await addProject(sql, owner);
  const writtenBefore = await beforeCommit(
    sql,
    async (tx) => {
      await holdProject(tx, id);
      await tx`INSERT INTO users (id, name) VALUES (${id}, 'the last write')`;
    },
    async () => {
      await sql.begin((tx) => removeProject(tx as Transaction, id));
      return await sql`SELECT FROM users WHERE id = ${id}`;
    },
  );
  expect(writtenBefore).toHaveLength(1);
});
