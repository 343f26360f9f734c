import { expect, test } from "bun:test";
import { sharedIdentity } from "../../../src/db/open.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

test("databases are told apart by a role that may not ask for the identity of the server", async () => {
  const identities = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const { sql } = await createTestDatabase();
    await sql`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`;
    await sql`GRANT SELECT ON database_identity TO pg_monitor`;
    identities.add(
      await sql.begin(async (tx) => {
        await tx`SET LOCAL ROLE pg_monitor`;
        return await sharedIdentity(tx as never);
      }),
    );
    identities.add(await sharedIdentity(sql));
  }
  expect(identities.size).toBe(4);
});
