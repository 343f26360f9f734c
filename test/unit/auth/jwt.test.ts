import { describe, expect, setSystemTime, test } from "bun:test";
import { SignJWT } from "jose";
import { createJwtVerifier } from "../../../src/auth/jwt.ts";
import type { Principal } from "../../../src/auth/principal.ts";
import { JWT_CLOCK_SKEW_SECONDS } from "../../../src/domain/limits.ts";
import { Problem } from "../../../src/domain/problem/problem.ts";

const SECRET = "a secret of more than enough characters";
const USER = "5f0c1a52-9d3e-4b7a-8d5e-0a1b2c3d4e5f";
const NONE = {
  secret: undefined,
  jwksUrl: undefined,
  issuer: undefined,
  audience: undefined,
  allowNoExp: false,
  requiresVerifiedEmail: false,
};
const now = () => Math.floor(Date.now() / 1000);
const bytes = (text: string) => new TextEncoder().encode(text);

const sign = (claims: Record<string, unknown>, secret = SECRET) =>
  new SignJWT({ sub: USER, exp: now() + 60, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(bytes(secret));

type Jwt = Parameters<typeof createJwtVerifier>[0];

/** The problem's slug that a token is refused with, or its principal. */
async function verdict(
  token: string,
  jwt: Partial<Jwt> = { secret: SECRET },
): Promise<string | Principal> {
  try {
    return await createJwtVerifier({ ...NONE, ...jwt }).verify(token);
  } catch (error) {
    if (error instanceof Problem) return error.slug;
    throw error;
  }
}

describe("JWTs with a shared secret", () => {
  test("a signed token names its user and carries account permissions in either form", async () => {
    const list = await verdict(await sign({ permissions: ["account.billing.manage", "x", 7] }));
    const text = await verdict(await sign({ scope: "account.billing.manage chunks.read" }));
    for (const principal of [list, text] as Principal[]) {
      expect(principal.userId).toBe(USER);
      expect([...principal.account]).toEqual(["account.billing.manage"]);
      expect(principal.scopes).toBeNull();
    }
  });

  test("a token is refused when expired, not yet valid, signed by others, or without a user", async () => {
    const tokens = await Promise.all([
      sign({ exp: now() - 1 }),
      sign({ nbf: now() + JWT_CLOCK_SKEW_SECONDS + 5 }),
      sign({}, "another secret of enough characters"),
      sign({ sub: undefined }),
      sign({ sub: "not-a-uuid" }),
      Promise.resolve("x.y.z"),
      Promise.resolve("notatoken"),
    ]);
    for (const token of tokens) expect(await verdict(token)).toBe("unauthorized");
  });

  test("a token whose sub claim is not a string is refused as unauthorized", async () => {
    for (const sub of [[USER], { id: USER }, 7, true, null]) {
      expect(await verdict(await sign({ sub }))).toBe("unauthorized");
    }
  });

  test("a token without an expiry is refused unless the configuration allows it", async () => {
    const endless = await sign({ exp: undefined });
    expect(await verdict(endless)).toBe("unauthorized");
    expect(await verdict(endless, { secret: SECRET, allowNoExp: true })).toBeObject();
    for (const exp of ["never", null]) {
      expect(await verdict(await sign({ exp }), { secret: SECRET, allowNoExp: true })).toBe(
        "unauthorized",
      );
    }
  });

  test("an address counts unless the token says that it is unverified, or nothing where that is required", async () => {
    const email = "ada@example.com";
    const stated = async (claims: object, requiresVerifiedEmail = false) => {
      const token = await sign({ iat: now() - 60, ...claims });
      const principal = await verdict(token, { secret: SECRET, requiresVerifiedEmail });
      const { identity } = principal as Principal;
      return [identity?.email, identity?.isVerified];
    };
    for (const isRequired of [false, true]) {
      for (const claim of [true, "true"]) {
        expect(await stated({ email, email_verified: claim }, isRequired)).toEqual([email, true]);
      }
      for (const claim of [false, "false", null, 1, "TRUE"]) {
        expect(await stated({ email, email_verified: claim }, isRequired)).toEqual([null, false]);
      }
      expect(await stated({}, isRequired)).toEqual([undefined, false]);
      expect(await stated({ email_verified: true }, isRequired)).toEqual([undefined, false]);
      expect(await stated({ email_verified: false }, isRequired)).toEqual([null, false]);
    }
    expect(await stated({ email })).toEqual([email, false]);
    expect(await stated({ email }, true)).toEqual([null, false]);
  });

  test("a token is of the time at which it was issued, which is never ahead of this clock", async () => {
    const issued = async (iat: number | undefined) => {
      const principal = await verdict(await sign({ iat }));
      return (principal as Principal).identity?.issuedAt.getTime() as number;
    };
    const before = Date.now();
    expect(await issued(1_700_000_000)).toBe(1_700_000_000_000);
    for (const iat of [undefined, now() + 3_600]) {
      expect(await issued(iat)).toBeGreaterThanOrEqual(before);
      expect(await issued(iat)).toBeLessThanOrEqual(Date.now());
    }
  });

  test("an issuer's clock may be a little ahead, but no token is accepted after its expiry", async () => {
    const ahead = await sign({ nbf: now() + JWT_CLOCK_SKEW_SECONDS - 2 });
    expect(await verdict(ahead)).toBeObject();
    expect(await verdict(await sign({ exp: now() - 1 }))).toBe("unauthorized");
  });

  test("issuer and audience are checked if configured", async () => {
    const jwt = { secret: SECRET, issuer: "https://id.example.com", audience: "tessera" };
    const right = await sign({ iss: jwt.issuer, aud: ["other", "tessera"] });
    expect(await verdict(right, jwt)).toBeObject();
    expect(await verdict(await sign({ iss: jwt.issuer, aud: "other" }), jwt)).toBe("unauthorized");
    expect(await verdict(await sign({ aud: "tessera" }), jwt)).toBe("unauthorized");
  });

  test("algorithm none and other algorithms than the secret's are refused", async () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${part({ alg: "none" })}.${part({ sub: USER, exp: now() + 60 })}.`;
    const other = await new SignJWT({ sub: USER })
      .setProtectedHeader({ alg: "HS512" })
      .sign(bytes(SECRET));
    expect(await verdict(unsigned)).toBe("unauthorized");
    expect(await verdict(other)).toBe("unauthorized");
  });

  test("without a secret and a key set every token is refused", async () => {
    expect(await verdict(await sign({}), {})).toBe("unauthorized");
  });

  test("beyond the maximum number of cached tokens the oldest is verified again", async () => {
    const counts = { hits: 0, misses: 0 };
    const { verify } = createJwtVerifier({ ...NONE, secret: SECRET }, counts, 2);
    const tokens = await Promise.all([1, 2, 3].map((jti) => sign({ jti: String(jti) })));
    const [first, , last] = tokens;
    for (const token of [...tokens, last as string, first as string]) await verify(token);
    expect(counts).toEqual({ hits: 1, misses: 4 });
  });

  test("a cached token still expires on time", async () => {
    const counts = { hits: 0, misses: 0 };
    const { verify } = createJwtVerifier({ ...NONE, secret: SECRET }, counts);
    const token = await sign({ exp: now() + 2 });
    for (let i = 0; i < 2; i++) expect(await verify(token)).toBeObject();
    expect(counts).toEqual({ hits: 1, misses: 1 });
    setSystemTime(Date.now() + 2_100);
    try {
      await expect(Promise.resolve(verify(token))).rejects.toThrow("not valid");
    } finally {
      setSystemTime();
    }
  });
});
