import { expect, test } from "bun:test";
import type { Transaction } from "../../../../src/db/client.ts";
import { transaction } from "../../../../src/db/transaction.ts";
import { putMember, removeMember } from "../../../../src/platform/members/service.ts";
import { addMember, addProject, addUser } from "../../../../support/accounts.ts";
import { beforeCommit } from "../../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();

const LEAVING = {
  "is removed": removeMember,
  "becomes a member": (tx: Transaction, project: string, user: string) =>
    putMember(tx, project, user, "member"),
};

for (const [name, leave] of Object.entries(LEAVING)) {
  test(`the last owner stays, also when another one is removed at the time at which the owner ${name}`, async () => {
    const [one, other] = [await addUser(sql), await addUser(sql)];
    const project = await addProject(sql, one);
    await addMember(sql, other, project, "owner");
    const outcome = await beforeCommit<string>(
      sql,
      (tx) => removeMember(tx, project.id, one),
      () => transaction(sql, (tx) => leave(tx, project.id, other)),
    );
    expect(outcome).toBe("last-owner");
    const left = await sql`SELECT user_id, role FROM memberships WHERE project_id = ${project.id}`;
    expect([...left]).toEqual([{ user_id: other, role: "owner" }]);
  });
}
