import { CREDENTIAL_MAX_CHARS } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { ApiKeyVerifier } from "./api-keys.ts";
import type { JwtVerifier } from "./jwt.ts";
import { looksLikeKey } from "./key-format.ts";
import { holds, type Permission, type Principal } from "./principal.ts";

const BEARER = /^bearer +(\S+) *$/i;

export interface Authenticator {
  /** The caller; synchronous for a cached credential. Throws `unauthorized` without a valid one. */
  authenticate(headers: Headers): Principal | Promise<Principal>;
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

/** The credential of a request, which identifies its caller. */
interface Credential {
  readonly text: string;
  /** Bearer tokens are JWTs or API keys; the header X-API-Key carries keys only. */
  readonly isBearer: boolean;
}

/** The bearer token, or else the key in X-API-Key. */
function credentialOf(headers: Headers): Credential | undefined {
  const bearer = BEARER.exec(headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) return { text: bearer, isBearer: true };
  const key = headers.get("x-api-key")?.trim();
  return key === undefined ? undefined : { text: key, isBearer: false };
}

export function createAuthenticator(keys: ApiKeyVerifier, tokens: JwtVerifier): Authenticator {
  return {
    authenticate(headers) {
      const credential = credentialOf(headers);
      if (credential === undefined || credential.text === "") throw new Problem("unauthorized");
      const { text, isBearer } = credential;
      if (text.length > CREDENTIAL_MAX_CHARS) {
        throw new Problem("unauthorized", { detail: "The credential is too long." });
      }
      if (looksLikeKey(text)) return keys.verify(text);
      if (isBearer) return tokens.verify(text);
      throw new Problem("unauthorized", { detail: "The API key is not valid." });
    },
    hasCredential: (headers) => credentialOf(headers) !== undefined,
  };
}
