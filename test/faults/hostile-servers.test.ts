import { describe, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Tessera } from "../../client/src/index.ts";
import { createJwtVerifier } from "../../src/auth/jwt.ts";
import { remoteEmbedder } from "../../src/embed/embedders/remote-embedder.ts";
import { createProvider } from "../../src/platform/billing/provider.ts";
import { vectorOf } from "../../support/embedding-endpoint.ts";
import { HOSTILE_BEHAVIOURS, type HostileServer, startHostile } from "./hostile-services.ts";

const SECRET = "the-secret-of-the-caller";
const USER = "5f0c1a52-9d3e-4b7a-8d5e-0a1b2c3d4e5f";
/** What may be taken of an answer without end. */
const TAKEN_MAX_BYTES = 64 * 1_048_576;

const pair = await generateKeyPair("ES256", { extractable: true });
const published = { ...(await exportJWK(pair.publicKey)), kid: "k", alg: "ES256" };
const token = await new SignJWT({ sub: USER, exp: Math.floor(Date.now() / 1_000) + 3_600 })
  .setProtectedHeader({ alg: "ES256", kid: "k" })
  .sign(pair.privateKey);

interface Caller {
  /** Calls the server once; rejects when its answer is of no use. */
  call(url: string): Promise<unknown>;
  good(request: Request): Response | Promise<Response>;
  /** What it takes for an answer that means nothing, and not for a failure. */
  readonly accepts?: readonly string[];
  /** In place of TAKEN_MAX_BYTES, where answers may be long. */
  readonly takes?: number;
}

/** Everybody in the service, its commands and its client who calls a server of somebody else. */
const CALLERS: Readonly<Record<string, Caller>> = {
  "an embedder": {
    call: (url) =>
      remoteEmbedder({ url, model: "m", apiKey: SECRET, retryBaseMs: 0 }).embedQuery("text"),
    good: () => Response.json({ data: [{ embedding: vectorOf("text", 768) }] }),
  },
  "a key server": {
    call: async (url) => {
      const none = {
        secret: undefined,
        issuer: undefined,
        audience: undefined,
        allowNoExp: false,
        requiresVerifiedEmail: false,
      };
      await createJwtVerifier({ ...none, jwksUrl: `${url}/keys` }).verify(token);
    },
    good: () => Response.json({ keys: [published] }),
  },
  "a payment provider": {
    call: (url) =>
      createProvider({ secretKey: SECRET, apiBase: url, attemptTimeoutMs: 5_000 }).openSession(
        { mode: "subscription" },
        "k",
      ),
    good: () => Response.json({ id: "cs_1", url: "https://checkout.example.com/" }),
  },
  "a service that the client asks": {
    call: (baseUrl) =>
      new Tessera({ baseUrl, credential: SECRET, retries: 0, timeoutMs: 30_000 }).getProject("p"),
    good: () => Response.json({ slug: "p" }),
    // The shape of an answer is for the application to see.
    accepts: ["answers with null", "answers with other JSON", "answers with nothing"],
    takes: 512 * 1_048_576,
  },
};

describe.each(Object.entries(CALLERS))(
  "the server of %s",
  (_, { call, good, accepts = [], takes = TAKEN_MAX_BYTES }) => {
    const server: HostileServer = startHostile();
    server.good = good;

    test.each(HOSTILE_BEHAVIOURS)(
      "that %s leads nowhere, and does no harm that lasts",
      async (what) => {
        server.behaviour = what;
        const sent = server.sent;
        const failure = await call(server.url).then(
          () => undefined,
          (error: unknown) => error as Error,
        );
        const mayPass = accepts.some((prefix) => what.startsWith(prefix));
        if (!mayPass) expect(failure).toBeInstanceOf(Error);
        expect(`${failure?.message} ${failure?.stack} ${Bun.inspect(failure)}`).not.toContain(
          SECRET,
        );
        expect(server.strayed).toEqual([]);
        expect(server.sent - sent).toBeLessThan(takes);
        server.behaviour = "good";
        await call(server.url);
      },
    );
  },
);
