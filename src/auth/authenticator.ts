import { Problem } from "../problem/problem.ts";
import { CREDENTIAL_MAX_CHARS } from "../shared/limits.ts";
import type { ApiKeyVerifier } from "./api-keys.ts";
import type { JwtVerifier } from "./jwt.ts";
import { looksLikeKey } from "./key-format.ts";
import { holds, type Permission, type Principal } from "./principal.ts";

const BEARER = /^bearer +(\S+) *$/i;

export interface Authenticator {
  /** The caller; synchronous for a cached credential. Throws `unauthorized` without a valid one. */
  authenticate(headers: Headers): Principal | Promise<Principal>;
  /**
   * The user of a credential that was valid when it was last looked up, which may be over; undefined
   * for others. It never looks one up.
   */
  knownUser(headers: Headers): string | undefined;
  /** True when the request carries a credential, valid or not. */
  hasCredential(headers: Headers): boolean;
}

/** Throws `permission-denied` unless the caller holds the permission. */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (holds(principal, permission)) return;
  throw new Problem("permission-denied", {
    detail: `This operation needs the permission ${permission}.`,
  });
}

/** The bearer token, or else the key in X-API-Key: all that tells callers apart. */
function credentialOf(headers: Headers): string | undefined {
  const bearer = BEARER.exec(headers.get("authorization") ?? "")?.[1];
  return bearer ?? headers.get("x-api-key")?.trim() ?? undefined;
}

export function createAuthenticator(keys: ApiKeyVerifier, tokens: JwtVerifier): Authenticator {
  return {
    authenticate(headers) {
      const credential = credentialOf(headers);
      if (credential === undefined || credential === "") throw new Problem("unauthorized");
      if (credential.length > CREDENTIAL_MAX_CHARS) {
        throw new Problem("unauthorized", { detail: "The credential is too long." });
      }
      if (looksLikeKey(credential)) return keys.verify(credential);
      // Only API keys are valid in X-API-Key.
      if (!headers.has("authorization")) {
        throw new Problem("unauthorized", { detail: "The API key is not valid." });
      }
      return tokens.verify(credential);
    },
    knownUser(headers) {
      const credential = credentialOf(headers);
      if (credential === undefined) return undefined;
      return looksLikeKey(credential) ? keys.knownUser(credential) : tokens.knownUser(credential);
    },
    hasCredential: (headers) => credentialOf(headers) !== undefined,
  };
}
