import { createHash, timingSafeEqual } from "node:crypto";
import { type Authenticator, requirePermission } from "../../auth/authenticator.ts";
import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";
import type { Definition } from "./queries.ts";

const SECRET_HEADER = "x-service-webhook-secret";

interface AccessServices {
  readonly sql: Sql;
  readonly authenticator: Authenticator;
}

/** Compares hashes, which have equal lengths as the constant-time comparison requires. */
function requireSecret(secret: Uint8Array, definition: Definition): void {
  const hash = createHash("sha256").update(secret).digest();
  if (timingSafeEqual(hash, definition.secretHash)) return;
  throw new Problem("unauthorized", { detail: "The webhook secret is not valid." });
}

async function requireMember(sql: Sql, principal: Principal, projectId: string): Promise<void> {
  try {
    await findProject(sql, principal, projectId);
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== "project-not-found") throw error;
    throw new Problem("unauthorized", {
      detail: "The credential has no access to the webhook's project.",
    });
  }
}

/**
 * Checks the first credential that is present: the secret in the header, the secret in the query,
 * or a bearer token or API key of a member of the webhook's project. Throws `unauthorized`, or
 * `permission-denied` for a member without the permission `webhooks.deliver`.
 */
export async function requireAccess(
  { sql, authenticator }: AccessServices,
  headers: Headers,
  querySecret: string | undefined,
  definition: Definition,
): Promise<void> {
  const headerSecret = headers.get(SECRET_HEADER);
  // Header values have one character per byte, whichever encoding the sender used.
  if (headerSecret !== null) return requireSecret(Buffer.from(headerSecret, "latin1"), definition);
  if (querySecret !== undefined) return requireSecret(Buffer.from(querySecret), definition);
  if (!authenticator.hasCredential(headers)) {
    throw new Problem("unauthorized", {
      detail:
        "Send the webhook's secret in X-Service-Webhook-Secret, or a bearer token or API key.",
    });
  }
  const principal = await authenticator.authenticate(headers);
  await requireMember(sql, principal, definition.projectId);
  requirePermission(principal, "webhooks.deliver");
}
