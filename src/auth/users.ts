import type { Queryable } from "../db/client.ts";
import { USER_EMAIL_MAX_CHARS } from "../shared/limits.ts";
import type { Principal } from "./principal.ts";

function storable(claim: string | null): string | null {
  return claim?.replaceAll("\0", "") ?? null;
}

/**
 * Makes sure that the caller has a row. Users who come by token are known only by their claims
 * until they write for the first time. An address that somebody else has, or that
 * is none, is left out.
 */
export async function ensureUser(sql: Queryable, principal: Principal): Promise<void> {
  const { userId } = principal;
  const claimed = storable(principal.email);
  const email = claimed !== null && claimed.length <= USER_EMAIL_MAX_CHARS ? claimed : null;
  const name = storable(principal.name) ?? "";
  const inserted = await sql`
    INSERT INTO users (id, email, name) VALUES (${userId}, ${email}, ${name})
    ON CONFLICT DO NOTHING`;
  if (inserted.count > 0 || email === null) return;
  await sql`INSERT INTO users (id, name) VALUES (${userId}, ${name}) ON CONFLICT (id) DO NOTHING`;
}
