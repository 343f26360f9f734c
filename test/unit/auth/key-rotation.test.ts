import { afterAll, afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createJwtVerifier } from "../../../src/auth/jwt.ts";
import {
  JWKS_CACHE_MAX_AGE_MS,
  JWKS_COOLDOWN_MS,
  JWKS_RETRY_MS,
  JWT_CACHE_TTL_MS,
} from "../../../src/domain/limits.ts";

const USER = "7b2d4e68-9a4c-4d2e-8f0a-9b8c5c3f1a90";
const START = Date.parse("2026-01-05T09:00:00Z");

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
const old = await generateKeyPair("RS256", { extractable: true });
const next = await generateKeyPair("ES256", { extractable: true });
const stranger = await generateKeyPair("RS256", { extractable: true });
const algorithmOf = (pair: Pair) => (pair === next ? "ES256" : "RS256");
const publish = async (pair: Pair, kid?: string) => ({
  ...(await exportJWK(pair.publicKey)),
  alg: algorithmOf(pair),
  ...(kid === undefined ? {} : { kid }),
});

let keys: object[] = [];
let fetched = 0;
let away = false;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch() {
    fetched++;
    return away ? new Response("no", { status: 500 }) : Response.json({ keys });
  },
});
afterAll(() => server.stop(true));
afterEach(() => {
  away = false;
  setSystemTime();
});

function signed(pair: Pair, kid?: string): Promise<string> {
  return new SignJWT({ exp: Math.floor(Date.now() / 1_000) + 3_600 })
    .setProtectedHeader({ alg: algorithmOf(pair), ...(kid === undefined ? {} : { kid }) })
    .setSubject(USER)
    .sign(pair.privateKey);
}

function newVerifier(jwksUrl = `http://127.0.0.1:${server.port}/keys`) {
  const { verify } = createJwtVerifier({
    secret: undefined,
    jwksUrl,
    issuer: undefined,
    audience: undefined,
    allowNoExp: false,
    requiresVerifiedEmail: false,
  });
  return async (token: string): Promise<string> => {
    try {
      return (await verify(token)).userId;
    } catch (error) {
      return (error as { slug: string }).slug;
    }
  };
}

describe("a key set that rotates while the service runs", () => {
  test("a new key is accepted once the set may be read again, and the old one throughout", async () => {
    setSystemTime(START);
    keys = [await publish(old, "old")];
    const verify = newVerifier();
    expect(await verify(await signed(old, "old"))).toBe(USER);
    keys = [...keys, await publish(next, "next")];
    setSystemTime(START + JWKS_COOLDOWN_MS + 1);
    expect(await verify(await signed(next, "next"))).toBe(USER);
    expect(await verify(await signed(old, "old"))).toBe(USER);
  });

  test("tokens with unknown keys do not cause repeated requests to the key server", async () => {
    setSystemTime(START);
    keys = [await publish(old, "old")];
    const verify = newVerifier();
    await verify(await signed(old, "old"));
    const before = fetched;
    for (let i = 0; i < 20; i++) {
      expect(await verify(await signed(stranger, `made up ${i}`))).toBe("unauthorized");
    }
    expect(fetched).toBe(before);
  });

  test("while the key server fails, tokens with unknown keys ask it once per pause, and others are accepted", async () => {
    setSystemTime(START);
    keys = [await publish(old, "old")];
    const verify = newVerifier();
    await verify(await signed(old, "old"));
    away = true;
    let now = START + JWKS_COOLDOWN_MS + 1;
    for (let pause = 0; pause < 3; pause++, now += JWKS_RETRY_MS) {
      setSystemTime(now);
      const before = fetched;
      for (let i = 0; i < 20; i++) {
        const token = await signed(stranger, `${pause} ${i}`);
        expect(await verify(token)).toBe("dependency-unavailable");
      }
      expect(fetched - before).toBe(1);
      expect(await verify(await signed(old, "old"))).toBe(USER);
    }
    away = false;
    setSystemTime(now);
    expect(await verify(await signed(stranger, "made up"))).toBe("unauthorized");
  });

  test("a token decides neither where its key is read nor which one it is", async () => {
    setSystemTime(START);
    keys = [await publish(old, "old")];
    const verify = newVerifier();
    await verify(await signed(old, "old"));
    const url = `http://127.0.0.1:${server.port}/theirs`;
    const jwk = await exportJWK(stranger.publicKey);
    const headers = [
      ...["../../theirs", "/theirs?x=1#y", "http://127.0.0.1/", "\u0000", "old\u0000"].map(
        (kid) => ({ kid }),
      ),
      ...[{ kid: "old", jwk }, { jwk }, { jku: url }, { x5u: url }, { crit: ["exp"] }],
    ];
    const before = fetched;
    for (const header of headers) {
      const token = await new SignJWT({ sub: USER, exp: START / 1_000 + 60 })
        .setProtectedHeader({ alg: "RS256", ...header })
        .sign(stranger.privateKey)
        .catch(() => "a.b.c");
      expect(await verify(token)).toBe("unauthorized");
    }
    expect(fetched).toBe(before);
  });

  test("a key that was removed is refused once the cached set has expired", async () => {
    setSystemTime(START);
    keys = [await publish(old, "old")];
    const verify = newVerifier();
    const token = await signed(old, "old");
    expect(await verify(token)).toBe(USER);
    keys = [await publish(next, "next")];
    setSystemTime(START + JWKS_CACHE_MAX_AGE_MS + JWT_CACHE_TTL_MS + 1);
    expect(await verify(token)).toBe("unauthorized");
  });

  test("a token that names no key may be signed by any key of the set, and by no other", async () => {
    setSystemTime(START);
    keys = [await publish(old), await publish(next)];
    const verify = newVerifier();
    expect(await verify(await signed(old))).toBe(USER);
    expect(await verify(await signed(next))).toBe(USER);
    expect(await verify(await signed(stranger))).toBe("unauthorized");
  });

  test("a key server that cannot be reached makes a dependency unavailable, not the token invalid", async () => {
    const verify = newVerifier("http://127.0.0.1:9/keys");
    expect(await verify(await signed(old, "old"))).toBe("dependency-unavailable");
  });

  test("a shared-secret token made from the public key is refused", async () => {
    keys = [await publish(old, "old")];
    const token = await new SignJWT({ sub: USER, exp: Math.floor(Date.now() / 1_000) + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "old" })
      .sign(new TextEncoder().encode(JSON.stringify(keys[0])));
    expect(await newVerifier()(token)).toBe("unauthorized");
  });
});
