import { describe, expect, test } from "bun:test";
import { createAuthenticator } from "../../../../src/auth/authenticator.ts";
import { generateKey } from "../../../../src/auth/key-format.ts";
import type { Principal } from "../../../../src/auth/principal.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { BodyReader } from "../../../../src/http/load/body.ts";
import { openGates } from "../../../../src/http/load/gates.ts";
import { operation } from "../../../../src/http/operation.ts";
import type { HttpContext } from "../../../../src/http/pipeline.ts";
import { bindOperation } from "../../../../src/http/pipeline.ts";
import { RejectionThrottle } from "../../../../src/http/rejection-throttle.ts";
import type { Log } from "../../../../src/ops/observability/log.ts";
import { createMetrics } from "../../../../src/ops/observability/metrics.ts";

const GREEDY = "greedy";
const BODIES_BYTES = 100_000;
const KEYS: Readonly<Record<string, string>> = { greedy: generateKey(), polite: generateKey() };

const userOf = (key: string) => Object.keys(KEYS).find((name) => KEYS[name] === key);
const principalOf = (userId: string) =>
  ({ userId, keyId: null, projectId: null, permissions: new Set() }) as unknown as Principal;

const operationOf = (
  id: string,
  sheddable: boolean,
  handle: () => unknown,
  changesAccess = false,
) =>
  operation({
    id,
    method: "GET",
    path: `/${id}`,
    tag: "Projects",
    summary: id,
    permission: null,
    problems: [],
    sheddable,
    handle,
    changesAccess,
  });

/** Two operations of a service whose engine is full of the requests of one tenant, named as its key. */
function world() {
  const state = { isFull: true, insideAtRefusals: [] as number[], forgotten: 0 };
  const keys = { verify: (key: string) => principalOf(userOf(key) as string) };
  const lines: object[] = [];
  const log = {
    warn() {},
    error() {},
    isLevelEnabled: () => true,
    http: (line: object) => lines.push(line),
  } as unknown as Log;
  const refuses = (tenant: string) => state.isFull && tenant === GREEDY;
  const gates = openGates({ refuses }, { maxBytes: BODIES_BYTES });
  const metrics = createMetrics();
  const refusals = new RejectionThrottle(() => "");
  const context = {
    baseUrl: "http://base",
    maxBodyBytes: BODIES_BYTES,
    gates,
    bodies: new BodyReader(gates),
    refusals: {
      async pace(...args: Parameters<RejectionThrottle["pace"]>) {
        state.insideAtRefusals.push(gates.database.acquired);
        await refusals.pace(...args);
      },
    },
    rateLimits: undefined,
    log,
    metrics,
    changes: { token: async () => undefined },
    forgetAccess: () => state.forgotten++,
    authenticator: createAuthenticator(keys as never, {} as never),
    audit: { denied() {} },
    config: { slowRequestMs: 0 },
    questions: { counts: undefined },
  } as unknown as HttpContext;
  const search = bindOperation(
    operationOf("search", true, () => new Response("{}")),
    context,
  );
  const list = bindOperation(
    operationOf("list", false, () => new Response("{}")),
    context,
  );
  const late = bindOperation(
    operationOf("late", false, () => {
      expect(gates.database.acquired).toBe(1);
      throw new Problem("overloaded", { detail: "Another one is under way." });
    }),
    context,
  );
  /** Writes that an operation admits, each to a place of its own, until they are stored. */
  const admitted = { inside: 0, bytes: Promise.withResolvers<void>(), fails: false };
  const put = bindOperation(
    operation({
      id: "put",
      method: "PUT",
      path: "/put",
      tag: "Files",
      summary: "put",
      permission: null,
      problems: [],
      bodies: {},
      async admit() {
        await admitted.bytes.promise;
        admitted.inside++;
        return () => admitted.inside--;
      },
      handle({ release }) {
        expect(admitted.inside).toBe(1);
        if (admitted.fails) throw new Problem("quota-exceeded");
        release();
        return new Response(null, { status: 204 });
      },
    }),
    context,
  );
  const revoke = bindOperation(
    operationOf(
      "revoke",
      false,
      () => {
        expect(state.forgotten).toBe(0);
        return new Response();
      },
      true,
    ),
    context,
  );
  const request = (name: string, headers = {}) =>
    new Request("http://host/", { headers: { "x-api-key": KEYS[name] as string, ...headers } });
  return {
    context,
    search,
    list,
    late,
    put,
    admitted,
    revoke,
    request,
    state,
    gates,
    metrics,
    lines,
  };
}

describe("a full queue of the engine", () => {
  test("refuses the requests of the tenant that filled it, unread", async () => {
    const { search, request, metrics } = world();
    const unread = request(GREEDY, { "content-length": "1000" });
    const refused = await search(unread, {});
    expect(unread.bodyUsed).toBeFalse();
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()) as object).toMatchObject({ slug: "overloaded" });
    expect(await metrics.registry.metrics()).toContain("tessera_overloaded_total 1");
  });

  test("refuses no other tenant and no operation that does not use the engine", async () => {
    const { search, list, request } = world();
    expect((await search(request("polite"), {})).status).toBe(200);
    expect((await list(request(GREEDY), {})).status).toBe(200);
  });

  test("refusals are in the metrics and in the log of requests, with their operation", async () => {
    const { search, request, metrics, lines } = world();
    await search(request(GREEDY), {});
    expect(lines[0]).toMatchObject({ operation: "search", status: 503, userId: GREEDY });
    const labels = `{operation="search",status="503"}`;
    expect(await metrics.registry.metrics()).toContain(
      `tessera_http_request_duration_seconds_count${labels} 1`,
    );
  });

  test("an Authorization header of another scheme, as a proxy adds it, does not mix up tenants", async () => {
    const { search, request } = world();
    const proxied = { authorization: "Basic shared" };
    expect((await search(request(GREEDY, proxied), {})).status).toBe(503);
    expect((await search(request("polite", proxied), {})).status).toBe(200);
  });

  test("that has room again refuses nobody", async () => {
    const { search, request, state } = world();
    expect((await search(request(GREEDY), {})).status).toBe(503);
    state.isFull = false;
    expect((await search(request(GREEDY), {})).status).toBe(200);
  });
});

describe("a place on the database", () => {
  test("is free again once a request is answered", async () => {
    const { list, request, gates } = world();
    expect((await list(request("polite"), {})).status).toBe(200);
    expect(gates.database.acquired).toBe(0);
  });

  test("is free while a refusal waits to be sent", async () => {
    const { late, request, gates, state } = world();
    expect((await late(request("polite"), {})).status).toBe(503);
    expect(state.insideAtRefusals).toEqual([0]);
    expect(gates.database.acquired).toBe(0);
  });
});

describe("a place that an operation admits a request to", () => {
  const body = (name: string, bytes: number) =>
    new Request("http://host/", {
      method: "PUT",
      body: new Uint8Array(bytes),
      headers: { "x-api-key": KEYS[name] as string, "content-length": `${bytes}` },
    });

  test("is left by the handler, or for it when it fails", async () => {
    const { put, admitted } = world();
    admitted.bytes.resolve();
    expect((await put(body("polite", 10), {})).status).toBe(204);
    expect(admitted.inside).toBe(0);
    admitted.fails = true;
    expect((await put(body("polite", 10), {})).status).toBe(409);
    expect(admitted.inside).toBe(0);
  });

  test("is left when the request has been refused for its bytes meanwhile", async () => {
    const { put, admitted } = world();
    const refused = put(body(GREEDY, BODIES_BYTES), {});
    await new Promise((resolve) => setImmediate(resolve));
    const other = put(body("polite", 10), {});
    expect((await refused).status).toBe(503);
    admitted.bytes.resolve();
    expect((await other).status).toBe(204);
    expect(admitted.inside).toBe(0);
  });
});

test("a change is not made for a client that has closed its connection", async () => {
  const { context, request } = world();
  let made = 0;
  const change = bindOperation(
    operation({
      id: "change",
      method: "POST",
      path: "/change",
      tag: "Projects",
      summary: "change",
      permission: null,
      problems: [],
      handle: () => made++,
    }),
    context,
  );
  const client = new AbortController();
  const left = change(new Request(request("polite"), { signal: client.signal }), {});
  client.abort();
  expect((await left).status).toBe(400);
  expect(made).toBe(0);
  expect((await change(request("polite"), {})).status).toBe(204);
  expect(made).toBe(1);
});

test("a change of access makes the process forget what it remembers, before it is answered", async () => {
  const { list, revoke, request, state } = world();
  await list(request("polite"), {});
  expect(state.forgotten).toBe(0);
  expect((await revoke(request("polite"), {})).status).toBe(200);
  expect(state.forgotten).toBe(1);
});
