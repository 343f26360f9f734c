import { describe, expect, test } from "bun:test";
import { checksum, parseKey } from "../../src/auth/key-format.ts";
import {
  API_KEY_CHECKSUM_CHARS,
  API_KEY_SECRET_CHARS,
  CREDENTIAL_MAX_CHARS,
} from "../../src/domain/limits.ts";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const user = await api.user();
const key = await api.key(user);
const PATH = "/errors/unauthorized";

describe("every operation", () => {
  test("an API key is accepted as bearer and in X-API-Key, a token as bearer only", async () => {
    const token = user.headers["authorization"]?.slice("Bearer ".length) as string;
    const statusOf = async (headers: Record<string, string>) =>
      (await api.send("GET", PATH, { headers })).status;
    expect(await statusOf({ "x-api-key": key.key })).toBe(200);
    expect(await statusOf({ authorization: `Bearer ${key.key}` })).toBe(200);
    expect(await statusOf({ authorization: `bearer ${token}` })).toBe(200);
    expect(await statusOf({ "x-api-key": token })).toBe(401);
  });

  test("a token in X-API-Key is refused, whatever stands in Authorization", async () => {
    const token = user.headers["authorization"]?.slice("Bearer ".length) as string;
    for (const authorization of ["Basic dXNlcjpwYXNz", "Basic x", "Bearer", "Digest realm=x"]) {
      const answer = await api.send("GET", PATH, {
        headers: { authorization, "x-api-key": token },
      });
      expect(answer.status, authorization).toBe(401);
      expect(answer.body.slug, authorization).toBe("unauthorized");
      const keyed = { authorization, "x-api-key": key.key };
      expect((await api.send("GET", PATH, { headers: keyed })).status, authorization).toBe(200);
    }
  });

  test("a key with the public prefix of another one and a secret of its own is refused", async () => {
    const prefix = key.key.slice(0, key.key.lastIndexOf("_"));
    const body = `${prefix}_${"0".repeat(API_KEY_SECRET_CHARS - API_KEY_CHECKSUM_CHARS)}`;
    const forged = body + checksum(body);
    expect(parseKey(forged)?.keyPrefix).toBe(prefix);
    const headers = [{ "x-api-key": forged }, { authorization: `Bearer ${forged}` }];
    // Before and after the key itself was accepted.
    for (const sent of [...headers, { "x-api-key": key.key }, ...headers]) {
      const { status } = await api.send("GET", PATH, { headers: sent });
      expect(status).toBe(sent["x-api-key"] === key.key ? 200 : 401);
    }
  });

  test("a credential that is too long is refused for that", async () => {
    const authorization = `Bearer ${"x".repeat(CREDENTIAL_MAX_CHARS + 1)}`;
    const { status, body } = await api.send("GET", PATH, { headers: { authorization } });
    expect([status, body.detail]).toEqual([401, "The credential is too long."]);
  });

  test("a response repeats the caller's request id if it is well-formed, or has a new one", async () => {
    const mine = await api.get(PATH, user, { "x-request-id": "my-request.1" });
    expect(mine.headers.get("x-request-id")).toBe("my-request.1");
    for (const odd of ["a b", "x".repeat(65), '"<script>"']) {
      const other = await api.get("/conversations/none", user, { "x-request-id": odd });
      const id = other.headers.get("x-request-id");
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(other.body.instance).toBe(`urn:request:${id}`);
    }
  });

  test("credential, permission and parameters are checked in this order", async () => {
    const path = "/projects/none/branches/none/eligibility";
    expect((await api.get(path)).status).toBe(401);
    const scoped = await api.key(user, { scopes: ["chunks.read"] });
    expect((await api.get(path, scoped)).status).toBe(403);
    expect((await api.get(path, user)).status).toBe(400);
  });
});

describe("a request without an operation", () => {
  test("an unknown path is answered with 404 route-not-found", async () => {
    for (const path of ["/v1/projects", "/conversations", "/projects/a/chunks/b", "/%2e%2e/x"]) {
      const answer = await api.get(path, user);
      expect(answer.status, path).toBe(404);
      expect(answer.body.slug).toBe("route-not-found");
    }
  });

  test("another method of a known path is answered with 405 and Allow", async () => {
    for (const [method, path, allow] of [
      ["PUT", `/api-keys/${key.id}`, "DELETE, GET, HEAD"],
      ["DELETE", "/projects", "GET, HEAD, POST"],
      ["PUT", "/api-keys", "GET, HEAD, POST"],
      ["PATCH", PATH, "GET, HEAD"],
    ] as const) {
      const answer = await api.send(method, path, { as: user });
      expect(answer.status, path).toBe(405);
      expect(answer.body.slug).toBe("method-not-allowed");
      expect(answer.headers.get("allow")).toBe(allow);
    }
  });

  test("a path that cannot be decoded is answered like any other unknown one", async () => {
    for (const path of ["/errors/%", "/errors/%ff", "/conversations/%c3%28"]) {
      const answer = await api.get(path, user);
      expect(answer.status, path).toBeOneOf([400, 404]);
    }
  });
});
