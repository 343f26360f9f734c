import { createHash, timingSafeEqual } from "node:crypto";
import { type Authenticator, requirePermission } from "../../auth/authenticator.ts";
import type { Principal } from "../../auth/principal.ts";
import { findProjects } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { Definition } from "./queries.ts";

const SECRET_HEADER = "x-service-webhook-secret";

interface AccessServices {
  readonly sql: Sql;
  readonly authenticator: Authenticator;
}

/**
 * Compares hashes, which have equal lengths as the constant-time comparison requires, with all of them.
 * @param place where the sender gave the secret
 */
function withSecret(
  secret: Uint8Array,
  definitions: readonly Definition[],
  place: string,
): Definition {
  const hash = createHash("sha256").update(secret).digest();
  const found = definitions.filter(({ secretHash }) => timingSafeEqual(hash, secretHash));
  if (found[0] !== undefined) return found[0];
  throw new Problem("unauthorized", { detail: `The secret in ${place} is not valid.` });
}

async function ofMember(
  sql: Sql,
  principal: Principal,
  definitions: readonly Definition[],
): Promise<Definition> {
  // Any number of projects may have the name, so one statement reads the access to all of them.
  const ids = definitions.map(({ projectId }) => projectId);
  const joined = await findProjects(sql, principal, ids);
  const found = definitions.find(({ projectId }) => joined.has(projectId));
  if (found !== undefined) return found;
  throw new Problem("unauthorized", {
    detail: "The credential has no access to the webhook's project.",
  });
}

/**
 * Of definitions with equal names, the one that the first present credential belongs to: the secret in the header, the
 * secret in the query, or a bearer token or API key of a member of the webhook's project. Throws `unauthorized`, or
 * `permission-denied` for a member without the permission `webhooks.deliver`.
 */
export async function requireAccess(
  { sql, authenticator }: AccessServices,
  headers: Headers,
  querySecret: string | undefined,
  definitions: readonly Definition[],
): Promise<Definition> {
  const headerSecret = headers.get(SECRET_HEADER);
  // Header values have one character per byte, whichever encoding the sender used.
  if (headerSecret !== null)
    return withSecret(Buffer.from(headerSecret, "latin1"), definitions, "X-Service-Webhook-Secret");
  if (querySecret !== undefined)
    return withSecret(Buffer.from(querySecret), definitions, "the query parameter `secret`");
  if (!authenticator.hasCredential(headers)) {
    throw new Problem("unauthorized", {
      detail:
        "Send the webhook's secret in X-Service-Webhook-Secret, or a bearer token or API key.",
    });
  }
  const principal = await authenticator.authenticate(headers);
  const definition = await ofMember(sql, principal, definitions);
  requirePermission(principal, "webhooks.deliver");
  return definition;
}
