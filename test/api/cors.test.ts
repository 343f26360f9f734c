import { describe, expect, test } from "bun:test";
import { withCors } from "../../src/http/cors.ts";
import { sharedApi, startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";

const PAGE = "https://app.example.com";
const OTHER = "https://evil.example.com";
const api = await startApi({ env: { CORS_ORIGINS: `${PAGE}, http://localhost:5173/` } });
const plain = await sharedApi();
const user = await api.user();

/** Requests as browsers send them; the API document does not describe what they add. */
function send(path: string, origin: string | undefined, init: RequestInit = {}, at = api) {
  const headers = { ...(init.headers as object), ...(origin === undefined ? {} : { origin }) };
  return fetch(`${at.url}${path}`, { ...init, headers });
}

const listOf = (response: Response, name: string) =>
  (response.headers.get(name) ?? "").split(",").map((entry) => entry.trim().toLowerCase());

const preflight = (origin: string, path = "/api-keys", at = api) =>
  send(
    path,
    origin,
    {
      method: "OPTIONS",
      headers: {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    },
    at,
  );

describe("a page of an allowed origin", () => {
  test("may send every method and header that operations accept", async () => {
    for (const origin of [PAGE, "http://localhost:5173"]) {
      const response = await preflight(origin);
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-max-age")).toMatch(/^\d+$/);
      expect(listOf(response, "vary")).toContain("origin");
      const { document } = await api.contract();
      const operations = Object.values<Json>(document.paths).flatMap((path) =>
        Object.entries<Json>(path),
      );
      const methods = new Set(operations.map(([method]) => method));
      expect(listOf(response, "access-control-allow-methods")).toEqual(
        expect.arrayContaining([...methods]),
      );
      const parameters = operations.flatMap(([, { parameters = [] }]) => parameters as Json[]);
      const headers = parameters
        .map((entry) =>
          entry.$ref ? document.components.parameters[entry.$ref.split("/").at(-1)] : entry,
        )
        .filter((parameter) => parameter.in === "header")
        .map(({ name }) => name.toLowerCase());
      // Browsers send `Origin` themselves.
      const allowed = ["origin", ...listOf(response, "access-control-allow-headers")];
      expect(headers.length).toBeGreaterThan(3);
      expect(headers.filter((name) => !allowed.includes(name))).toEqual([]);
      for (const name of ["authorization", "x-api-key", "content-type"]) {
        expect(allowed).toContain(name);
      }
    }
  });

  test("may read answers, with every header that operations document", async () => {
    const response = await send("/projects", PAGE, { headers: user.headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(listOf(response, "vary")).toContain("origin");
    const { document } = await api.contract();
    const documented = Object.values<Json>(document.paths)
      .flatMap((path) => Object.values<Json>(path))
      .flatMap(({ responses }) => Object.values<Json>(responses))
      .flatMap(({ headers = {} }) => Object.keys(headers))
      .map((name) => name.toLowerCase());
    const exposed = [...listOf(response, "access-control-expose-headers"), "cache-control"];
    expect([...new Set(documented)].filter((name) => !exposed.includes(name))).toEqual([]);
  });

  test("may read errors: of credentials, bodies, paths and hosts", async () => {
    for (const [path, init, status] of [
      ["/projects", {}, 401],
      ["/projects", { method: "POST", headers: user.headers, body: "{" }, 415],
      ["/nowhere", {}, 404],
      ["/projects", { method: "PUT" }, 405],
      ["/projects", { headers: { host: "a b" } }, 400],
    ] as const) {
      const response = await send(path, PAGE, init as RequestInit);
      expect(response.status, path).toBe(status);
      expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    }
  });
});

describe("a page of another origin", () => {
  test("gets answers that browsers keep from it", async () => {
    for (const origin of [OTHER, "null", `${PAGE}.example.org`, PAGE.toUpperCase()]) {
      const asked = await preflight(origin);
      expect(asked.status).toBe(405);
      expect(asked.headers.get("access-control-allow-origin")).toBeNull();
      const response = await send("/projects", origin, { headers: user.headers });
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(listOf(response, "vary")).toContain("origin");
    }
  });
});

test("an answer without an origin varies with it, so that no cache mixes answers up", async () => {
  const response = await send("/projects", undefined, { headers: user.headers });
  expect(listOf(response, "vary")).toContain("origin");
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
});

test("without allowed origins no answer mentions them", async () => {
  const response = await send("/projects", PAGE, { headers: user.headers }, plain);
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect(listOf(response, "vary")).not.toContain("origin");
  expect((await preflight(PAGE, "/api-keys", plain)).status).toBe(405);
});

test("refusals before the operation is known carry the headers, too", async () => {
  const refusing = withCors([PAGE], () => new Response("overloaded", { status: 503 }));
  const request = new Request("http://host/search", { method: "POST", headers: { origin: PAGE } });
  const response = await refusing(request);
  expect(response.status).toBe(503);
  expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
});

describe("POST /mcp from a page", () => {
  const call = (origin: string | undefined) =>
    send("/mcp", origin, {
      method: "POST",
      headers: { "content-type": "application/json", ...user.headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });

  test("is refused unless the origin is allowed or the service's own", async () => {
    const { port } = new URL(api.url);
    const own = [api.url, `http://localhost:${port}`, `http://[::1]:${port}`];
    for (const origin of [...own, PAGE, undefined]) {
      expect((await call(origin)).status, origin).toBe(200);
    }
    const others = [OTHER, "null", `http://app.example.com:${port}`, `https://127.0.0.1:${port}`];
    for (const origin of [...others, `${PAGE}.evil.example.com`, "http://127.0.0.1:1"]) {
      const answer = await call(origin);
      expect(answer.status, origin).toBe(403);
      expect(((await answer.json()) as Json).slug).toBe("permission-denied");
    }
  });
});
