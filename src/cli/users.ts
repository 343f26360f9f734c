import type { Queryable } from "../db/client.ts";
import { derivedId } from "../import/placement/ids.ts";

/** The id of the user with this address, who is created when there is none. */
export async function findOrCreateUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; created: boolean }> {
  // The derived id is the one that an import of this user would choose.
  const id = derivedId("user", "", email.toLowerCase());
  const name = email.slice(0, email.indexOf("@"));
  const [created] = await sql<{ id: string }[]>`
    INSERT INTO users (id, email, name) VALUES (${id}, ${email}, ${name})
    ON CONFLICT DO NOTHING RETURNING id`;
  if (created !== undefined) return { id, created: true };
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM users WHERE lower(email) = lower(${email})`;
  if (row === undefined) {
    throw new Error(`the id that follows from ${email} belongs to another user`);
  }
  return { id: row.id, created: false };
}
