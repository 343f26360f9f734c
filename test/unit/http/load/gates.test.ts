import { describe, expect, test } from "bun:test";
import { createAuthenticator } from "../../../../src/auth/authenticator.ts";
import { generateKey } from "../../../../src/auth/key-format.ts";
import type { Principal } from "../../../../src/auth/principal.ts";
import { BodyIntake } from "../../../../src/http/load/body.ts";
import { openGates } from "../../../../src/http/load/gates.ts";
import { UnsentAnswers } from "../../../../src/http/load/large-answers.ts";
import { operation } from "../../../../src/http/operation.ts";
import { bindOperation, type HttpContext } from "../../../../src/http/pipeline.ts";
import { Refusals } from "../../../../src/http/refusals.ts";
import type { Log } from "../../../../src/observability/log.ts";
import { createMetrics } from "../../../../src/observability/metrics.ts";
import { Problem } from "../../../../src/problem/problem.ts";

const GREEDY = "greedy";
const KEYS: Readonly<Record<string, string>> = { greedy: generateKey(), polite: generateKey() };

const userOf = (key: string) => Object.keys(KEYS).find((name) => KEYS[name] === key);
const principalOf = (userId: string) =>
  ({ userId, keyId: null, projectId: null, permissions: new Set() }) as unknown as Principal;

const operationOf = (id: string, sheds: boolean, handle: () => unknown, changesAccess = false) =>
  operation({
    ...{ id, method: "GET", path: `/${id}`, tag: "Projects", summary: id, permission: null },
    ...{ problems: [], sheds, handle, changesAccess },
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
  const gates = openGates({ refuses: (tenant) => state.isFull && tenant === GREEDY });
  const metrics = createMetrics();
  const refusals = new Refusals("http://base", log, () => "");
  const context = {
    ...{ baseUrl: "http://base", maxBodyBytes: 1_000, gates, bodies: new BodyIntake() },
    unsent: new UnsentAnswers(() => undefined, log),
    ...{
      refusals: {
        async respond(...args: Parameters<Refusals["respond"]>) {
          state.insideAtRefusals.push(gates.database.inside);
          return await refusals.respond(...args);
        },
      },
      rateLimits: undefined,
      log,
      metrics,
    },
    forgetAccess: () => state.forgotten++,
    authenticator: createAuthenticator(keys as never, {} as never),
    ...{ audit: { denied() {} }, config: { slowRequestMs: 0 }, questions: { counts: undefined } },
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
      expect(gates.database.inside).toBe(1);
      throw new Problem("overloaded", { detail: "Another one is under way." });
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
  return { search, list, late, revoke, request, state, gates, metrics, lines };
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
    expect(gates.database.inside).toBe(0);
  });

  test("is free while a refusal waits to be sent", async () => {
    const { late, request, gates, state } = world();
    expect((await late(request("polite"), {})).status).toBe(503);
    expect(state.insideAtRefusals).toEqual([0]);
    expect(gates.database.inside).toBe(0);
  });
});

test("a change of access makes the process forget what it remembers, before it is answered", async () => {
  const { list, revoke, request, state } = world();
  await list(request("polite"), {});
  expect(state.forgotten).toBe(0);
  expect((await revoke(request("polite"), {})).status).toBe(200);
  expect(state.forgotten).toBe(1);
});
