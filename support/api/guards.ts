import { describe, expect, test } from "bun:test";
import { generateKey } from "../../src/auth/key-format.ts";
import type { Slug } from "../../src/problem/catalogue.ts";
import { type Caller, type TestApi, type TestProject, withoutRequestId } from "./api.ts";

export interface Guarded {
  readonly api: TestApi;
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** A valid body, for operations that take one. */
  readonly json?: unknown;
}

const EXPIRED_SECONDS = 120;

/** Declares the tests that an operation refuses callers without a valid credential. */
export function refusesBadCredentials({ api, method = "GET", path, json }: Guarded): void {
  const refused = async (why: string, headers: Record<string, string>) => {
    const sent = { headers, ...(json === undefined ? {} : { json }) };
    const answer = await api.send(method, path, sent);
    expect(answer.status, why).toBe(401);
    expect(answer.body.slug, why).toBe("unauthorized");
    expect(answer.headers.get("www-authenticate"), why).toContain("Bearer");
  };

  describe("a request without a valid credential is answered 401 with the accepted schemes", () => {
    test("a missing, malformed, unknown or mistyped credential is answered 401", async () => {
      const key = generateKey();
      const typo = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
      await refused("none", {});
      await refused("an empty bearer", { authorization: "Bearer " });
      await refused("basic", { authorization: "Basic dXNlcjpwYXNz" });
      await refused("no token", { authorization: "Bearer nonsense" });
      await refused("an unknown key", { "x-api-key": key });
      await refused("a typo", { authorization: `Bearer ${typo}` });
    });

    test("an expired token, an expired key or a revoked key is answered 401", async () => {
      const user = await api.user();
      const now = Math.floor(Date.now() / 1_000);
      const stale = await api.token(user.userId, { exp: now - EXPIRED_SECONDS });
      await refused("an expired token", stale.headers);
      const expired = await api.key(user, { expiresAt: new Date(Date.now() - 1_000) });
      await refused("an expired key", expired.headers);
      const revoked = await api.key(user);
      await api.sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${revoked.id}`;
      await refused("a revoked key", revoked.headers);
    });
  });
}

/** Declares the test that a member whose key lacks the permission gets a 403. */
export function needsPermission(guarded: Guarded & { project: TestProject }): void {
  const { api, method = "GET", path, json, project } = guarded;
  test("a member whose key lacks the permission is answered 403", async () => {
    const as = await api.unpermitted(project);
    const answer = await api.send(method, path, { as, ...(json === undefined ? {} : { json }) });
    expect(answer.status).toBe(403);
    expect(answer.body.slug).toBe("permission-denied");
  });
}

/** Declares the test that foreign callers cannot distinguish the resource from a missing one. */
export function hidesFromForeigners(
  guarded: Guarded & {
    project: TestProject;
    slug: Slug;
    /** The same request for a resource that does not exist. */
    missingPath: string;
    missingJson?: unknown;
    member: Caller;
  },
): void {
  const { api, method = "GET", path, json, missingPath, missingJson, project, slug } = guarded;
  const send = (as: Caller, to: string, body: unknown) =>
    api.send(method, to, { as, ...(body === undefined ? {} : { json: body }) });

  test("a foreign caller is answered 404, exactly as for a resource that does not exist", async () => {
    for (const { why, caller } of await api.foreigners(project)) {
      const answer = await send(caller, path, json);
      expect(answer.status, why).toBe(404);
      expect(answer.body.slug, why).toBe(slug);
      const missing = await send(guarded.member, missingPath, missingJson ?? json);
      expect(withoutRequestId(answer), why).toEqual(withoutRequestId(missing));
    }
  });
}
