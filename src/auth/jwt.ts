import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { isUuid } from "../domain/formats.ts";
import {
  AUTH_CACHE_MAX_ENTRIES,
  JWKS_CACHE_MAX_AGE_MS,
  JWKS_COOLDOWN_MS,
  JWKS_MAX_BYTES,
  JWKS_RETRY_MS,
  JWKS_TIMEOUT_MS,
  JWT_CACHE_TTL_MS,
  JWT_CLOCK_SKEW_SECONDS,
} from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import { boundedFetch } from "../ops/bounded-fetch.ts";
import { Breaker } from "../ops/breaker.ts";
import type { Config } from "../ops/config/schema.ts";
import { tracedFetch } from "../ops/observability/tracing.ts";
import type { CacheCounts } from "../ops/ttl-cache.ts";
import { type Identity, isAccountPermission, type Principal } from "./principal.ts";
import { addressKey, FIRST_OWNER, isAddress } from "./users.ts";

/** Algorithms by kind of key. Verifying one kind with a key of the other is a known attack. */
const SECRET_ALGORITHMS = ["HS256"];
const PUBLIC_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

interface CachedToken {
  readonly principal: Principal;
  /** Milliseconds since the epoch, after which the token is verified again. */
  readonly until: number;
}

function permissionsOf(payload: JWTPayload): string[] {
  const list = payload["permissions"];
  if (Array.isArray(list)) return list.filter((item): item is string => typeof item === "string");
  const scope = payload["scope"];
  return typeof scope === "string" ? scope.split(" ").filter((name) => name !== "") : [];
}

function textClaim(payload: JWTPayload, name: string): string | null {
  const value = payload[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * An address that the issuer calls unverified may belong to another person, so it does not identify the user (OpenID
 * Connect Core, section 5.7). Some issuers send the claim as text. Any value other than `true` is not a verification.
 */
function addressOf(
  payload: JWTPayload,
  requiresVerified: boolean,
): Pick<Identity, "email" | "isVerified"> {
  const claim = payload["email_verified"];
  const isVerified = claim === true || claim === "true";
  const email = textClaim(payload, "email");
  if (email === null && (claim === undefined || isVerified)) {
    return { email: undefined, isVerified: false };
  }
  const counts = isVerified || (claim === undefined && !requiresVerified);
  const isUsable =
    counts && email !== null && isAddress(email) && addressKey(email) !== FIRST_OWNER;
  return isUsable ? { email, isVerified } : { email: null, isVerified: false };
}

/** The time at which the token was issued, or at which it was verified if it lacks the claim. */
function issueTimeOf({ iat }: JWTPayload): Date {
  const now = Date.now();
  return new Date(iat === undefined ? now : Math.min(Math.max(iat * 1_000, 0), now));
}

function principalOf(payload: JWTPayload, requiresVerified: boolean): Principal {
  // jose checks the types of the time claims only, so `sub` may be any JSON value.
  const sub: unknown = payload.sub;
  if (typeof sub !== "string" || !isUuid(sub)) {
    throw new Problem("unauthorized", { detail: "The token's sub claim is not a user id." });
  }
  return {
    userId: sub.toLowerCase(),
    identity: {
      name: textClaim(payload, "name"),
      ...addressOf(payload, requiresVerified),
      issuedAt: issueTimeOf(payload),
    },
    keyId: null,
    projectId: null,
    scopes: null,
    account: new Set(permissionsOf(payload).filter(isAccountPermission)),
  };
}

function algorithmOf(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.split(".")[0] ?? "", "base64url").toString(),
    );
    const name = (header as { alg?: unknown } | null)?.alg;
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies with the key that the token names, or with any key of the set if it does not name one. */
async function claimsByKeySet(
  token: string,
  keySet: ReturnType<typeof createRemoteJWKSet>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keySet, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch((failure: unknown) => {
        if (failure instanceof errors.JWSSignatureVerificationFailed) return undefined;
        throw failure;
      });
      if (verified !== undefined) return verified.payload;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** True when the key server has failed, false when the token is invalid. */
function isKeyServerFault(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  // jose reports a status other than 200 as its base class, and rethrows errors of fetch.
  return !(error instanceof errors.JOSEError) || error.constructor === errors.JOSEError;
}

/**
 * The fetch function for the key server. While the server fails, each token with an unknown key would send another
 * request, so it gets at most one request per JWKS_RETRY_MS. The clock is jose's, which decides when the keys are old.
 */
function keyServerFetch() {
  const breaker = new Breaker({ pauseMs: JWKS_RETRY_MS, now: Date.now });
  return async (url: string, init: RequestInit): Promise<Response> => {
    return await breaker.call(async () => {
      const answer = await boundedFetch(url, init, JWKS_MAX_BYTES, tracedFetch);
      if (answer.status !== 200) throw new Error(`the key server answered ${answer.status}`);
      // The call throws unless the answer is a set of keys.
      createLocalJWKSet((await answer.clone().json()) as JSONWebKeySet);
      return answer;
    });
  };
}

/** Verifies tokens against the configured secret or key set and returns their claims. */
function createClaimsReader(jwt: Config["jwt"]): (token: string) => Promise<JWTPayload> {
  const secret = jwt.secret === undefined ? undefined : new TextEncoder().encode(jwt.secret);
  const keySet =
    jwt.jwksUrl === undefined
      ? undefined
      : createRemoteJWKSet(new URL(jwt.jwksUrl), {
          cooldownDuration: JWKS_COOLDOWN_MS,
          cacheMaxAge: JWKS_CACHE_MAX_AGE_MS,
          timeoutDuration: JWKS_TIMEOUT_MS,
          [customFetch]: keyServerFetch(),
        });
  const checks = {
    // The issuer's clock may be a little ahead. The expiry is checked again, without tolerance.
    clockTolerance: JWT_CLOCK_SKEW_SECONDS,
    requiredClaims: jwt.allowNoExp ? [] : ["exp"],
    ...(jwt.issuer === undefined ? {} : { issuer: jwt.issuer }),
    ...(jwt.audience === undefined ? {} : { audience: jwt.audience }),
  };
  return async (token) => {
    const algorithm = algorithmOf(token);
    if (secret !== undefined && algorithm !== undefined && SECRET_ALGORITHMS.includes(algorithm)) {
      return (await jwtVerify(token, secret, { ...checks, algorithms: SECRET_ALGORITHMS })).payload;
    }
    if (keySet !== undefined && algorithm !== undefined && PUBLIC_ALGORITHMS.includes(algorithm)) {
      return await claimsByKeySet(token, keySet, { ...checks, algorithms: PUBLIC_ALGORITHMS });
    }
    throw new errors.JOSEAlgNotAllowed();
  };
}

/** The problem for a token that could not be verified. */
function tokenProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  if (isKeyServerFault(cause)) {
    const detail = "The keys that verify tokens cannot be read.";
    return new Problem("dependency-unavailable", { detail, cause });
  }
  return new Problem("unauthorized", { detail: "The token is not valid.", cause });
}

/** Verifies JWTs against the configured secret or key set. */
export interface JwtVerifier {
  /**
   * The caller. Throws `unauthorized` for an invalid token, and for every token when neither a secret
   * nor a key set is configured; `dependency-unavailable` when the key set cannot be read.
   */
  verify(token: string): Principal | Promise<Principal>;
}

/** Verified tokens are cached for JWT_CACHE_TTL_MS at most, never beyond their expiry. */
export function createJwtVerifier(
  jwt: Config["jwt"],
  counts: CacheCounts = { hits: 0, misses: 0 },
  maxEntries = AUTH_CACHE_MAX_ENTRIES,
): JwtVerifier {
  const claimsOf = createClaimsReader(jwt);
  const cache = new Map<string, CachedToken>();

  async function verifyAnew(token: string): Promise<Principal> {
    try {
      const payload = await claimsOf(token);
      const principal = principalOf(payload, jwt.requiresVerifiedEmail);
      const expires = payload.exp ?? Number.POSITIVE_INFINITY;
      if (expires * 1000 <= Date.now()) throw new errors.JWTExpired("expired", payload);
      const until = Math.min(Date.now() + JWT_CACHE_TTL_MS, expires * 1000);
      cache.set(token, { principal, until });
      if (cache.size > maxEntries) cache.delete(cache.keys().next().value as string);
      return principal;
    } catch (error) {
      throw tokenProblem(error);
    }
  }

  return {
    verify(token) {
      if (jwt.secret === undefined && jwt.jwksUrl === undefined) {
        throw new Problem("unauthorized", { detail: "This service accepts API keys only." });
      }
      const cached = cache.get(token);
      if (cached !== undefined && Date.now() < cached.until) {
        counts.hits++;
        return cached.principal;
      }
      counts.misses++;
      cache.delete(token);
      return verifyAnew(token);
    },
  };
}
