import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Transaction } from "../../../src/db/client.ts";
import { Charges, charge, withReservation } from "../../../src/db/quotas.ts";
import { addProject, addUser } from "../../../support/accounts.ts";
import { beforeCommit } from "../../../support/open-transaction.ts";
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

describe("what an owner may store is exceeded already:", () => {
  const SOME = { bytes: 200 };
  const NOTHING = { bytes: 0 };
  const LESS = { bytes: -200 };
  test.each([
    ["what adds to a project is refused", [SOME], "refused"],
    ["what adds to one of two projects is refused", [SOME, LESS], "refused"],
    ["what changes a project is not", [NOTHING], "stored"],
    ["what removes from a project is not", [LESS], "stored"],
    ["what removes from two projects is not", [LESS, LESS], "stored"],
    ["what gives a project another owner is refused", [], "refused"],
  ])("%s", async (_, changes, outcome) => {
    const { sql } = await createTestDatabase();
    const owner = await addUser(sql);
    const projects = [await addProject(sql, owner), await addProject(sql, owner)];
    for (const { id } of projects) await sql`INSERT INTO quota_deltas VALUES (${id}, 0, 1000, 0)`;
    await sql`INSERT INTO quota_defaults (owner_bytes) VALUES (1)`;
    const charges = new Charges();
    for (const [i, change] of changes.entries()) charges.add(projects[i]?.id as string, change);
    if (changes.length === 0) charges.addOwner(projects[0]?.id as string);
    const settled = sql.begin((tx) => charges.settle(tx as Transaction));
    const answer = settled.then(
      () => "stored",
      (error) => (error.code === "TQ001" ? "refused" : error),
    );
    expect(await answer).toBe(outcome);
  });
});

describe("two transactions at once add no more than", () => {
  test.each([
    ["an owner may store, in two projects", "owner_bytes", 1, 2],
    ["a project may store", "bytes", 0, 1],
  ] as const)("%s", async (_, limit, second, limited) => {
    const { sql } = await createTestDatabase();
    const owner = await addUser(sql);
    const projects = [await addProject(sql, owner), await addProject(sql, owner)];
    const [usage] = await sql`SELECT bytes FROM project_usage(${projects[0]?.id as string})`;
    // Either addition fits, and both together do not.
    await sql`INSERT INTO quota_defaults ${sql({ [limit]: limited * Number(usage?.bytes) + 1_000 })}`;
    const adding = (at: number) => (tx: Transaction) =>
      charge(tx, projects[at]?.id as string, { bytes: 600 });
    const adds = () => sql.begin((tx) => adding(second)(tx as Transaction));
    await expect(beforeCommit(sql, adding(0), adds)).rejects.toMatchObject({ code: "TQ001" });
  });
});
