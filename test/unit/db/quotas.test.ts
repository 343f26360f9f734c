import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { withReservation } from "../../../src/db/quotas.ts";
import { addProject, addUser } from "../../../support/accounts.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

test("a copy that fails after its quota was reserved takes none of it", async () => {
  const { sql } = await createTestDatabase();
  await sql`INSERT INTO quota_defaults (owner_files) VALUES (1)`;
  const owner = await addUser(sql);
  const template = await addProject(sql, owner);
  const reserved = async () => (await sql`SELECT FROM quota_reservations`).length;
  const copying = withReservation(sql, randomUUID(), owner, {
    template: async () => template.id,
    async copy() {
      expect(await reserved()).toBe(1);
      throw new Error("the slug is taken");
    },
    signal: new AbortController().signal,
  });
  await expect(copying).rejects.toThrow("the slug is taken");
  expect(await reserved()).toBe(0);
});
