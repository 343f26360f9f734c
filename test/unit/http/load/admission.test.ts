import { describe, expect, test } from "bun:test";
import { createAuthenticator } from "../../../../src/auth/authenticator.ts";
import { generateKey } from "../../../../src/auth/key-format.ts";
import type { Principal } from "../../../../src/auth/principal.ts";
import { Admission } from "../../../../src/http/load/admission.ts";
import { BodyIntake } from "../../../../src/http/load/body.ts";
import { UnsentAnswers } from "../../../../src/http/load/large-answers.ts";
import { operation } from "../../../../src/http/operation.ts";
import { bindOperation, type HttpContext } from "../../../../src/http/pipeline.ts";
import { Refusals } from "../../../../src/http/refusals.ts";
import type { Log } from "../../../../src/observability/log.ts";
import { createMetrics } from "../../../../src/observability/metrics.ts";
import { OVERLOADED } from "../../../../src/problem/problem.ts";
import {
  ADMISSION_STARTS_MAX,
  ADMISSION_WAITING_MAX,
  DATABASE_PLACES_MAX,
} from "../../../../src/shared/limits.ts";

const GREEDY = "greedy";
const KEYS: Readonly<Record<string, string>> = { greedy: generateKey(), polite: generateKey() };

const userOf = (key: string) => Object.keys(KEYS).find((name) => KEYS[name] === key);
const turn = () => new Promise((resolve) => setImmediate(resolve));

const principalOf = (userId: string) =>
  ({ userId, keyId: null, projectId: null, permissions: new Set() }) as unknown as Principal;

const operationOf = (id: string, sheds: boolean, handle: () => unknown) =>
  operation({
    ...{ id, method: "GET", path: `/${id}`, tag: "Projects", summary: id, permission: null },
    ...{ problems: [], sheds, handle },
  });

/** Two operations of a service whose engine is full of the requests of one tenant, named as its key. */
function world() {
  const state = { isFull: true };
  const valid = new Set(Object.keys(KEYS));
  const known = new Set<string>();
  const keys = {
    verify(key: string) {
      const userId = userOf(key) as string;
      if (!valid.has(userId)) throw new Error("the credential was looked up");
      known.add(userId);
      return principalOf(userId);
    },
    knownUser(key: string) {
      const userId = userOf(key) as string;
      return known.has(userId) ? userId : undefined;
    },
  };
  const lines: object[] = [];
  const log = {
    warn() {},
    error() {},
    isLevelEnabled: () => true,
    http: (line: object) => lines.push(line),
  } as unknown as Log;
  const admission = new Admission({
    get isFull() {
      return state.isFull;
    },
    refuses: (tenant: string) => tenant === GREEDY,
  });
  const metrics = createMetrics();
  const context = {
    ...{ baseUrl: "http://base", maxBodyBytes: 1_000, admission, bodies: new BodyIntake() },
    unsent: new UnsentAnswers(() => undefined),
    ...{
      refusals: new Refusals("http://base", log, () => ""),
      rateLimits: undefined,
      log,
      metrics,
    },
    authenticator: createAuthenticator(keys as never, {} as never),
    ...{ audit: { denied() {} }, config: { slowRequestMs: 0 } },
  } as unknown as HttpContext;
  const search = bindOperation(
    operationOf("search", true, () => new Response("{}")),
    context,
  );
  const list = bindOperation(
    operationOf("list", false, () => new Response("{}")),
    context,
  );
  const request = (name: string, headers = {}) =>
    new Request("http://host/", { headers: { "x-api-key": KEYS[name] as string, ...headers } });
  return { search, list, request, state, valid, metrics, lines };
}

describe("a full queue of the engine", () => {
  test("refuses the requests of the tenant that filled it, once the tenant is known", async () => {
    const { search, request, metrics } = world();
    expect((await search(request(GREEDY), {})).status).toBe(200);
    const refused = await search(request(GREEDY), {});
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()) as object).toMatchObject({ slug: "overloaded" });
    expect(await metrics.registry.metrics()).toContain("tessera_overloaded_total 1");
  });

  test("refuses no other tenant and no operation that does not use the engine", async () => {
    const { search, list, request } = world();
    await search(request(GREEDY), {});
    await search(request("polite"), {});
    expect((await search(request("polite"), {})).status).toBe(200);
    expect((await list(request(GREEDY), {})).status).toBe(200);
  });

  test("refusals are in the metrics and in the log of requests, with their operation", async () => {
    const { search, request, metrics, lines } = world();
    await search(request(GREEDY), {});
    await search(request(GREEDY), {});
    expect(lines[1]).toMatchObject({ operation: "search", status: 503, userId: GREEDY });
    const labels = `{operation="search",status="503"}`;
    expect(await metrics.registry.metrics()).toContain(
      `tessera_http_request_duration_seconds_count${labels} 1`,
    );
  });

  test("an Authorization header of another scheme, as a proxy adds it, does not mix up tenants", async () => {
    const { search, request } = world();
    const proxied = { authorization: "Basic shared" };
    for (const name of [GREEDY, "polite"]) await search(request(name, proxied), {});
    expect((await search(request(GREEDY, proxied), {})).status).toBe(503);
    expect((await search(request("polite", proxied), {})).status).toBe(200);
  });

  test("that has room again refuses nobody", async () => {
    const { search, request, state } = world();
    await search(request(GREEDY), {});
    expect((await search(request(GREEDY), {})).status).toBe(503);
    state.isFull = false;
    expect((await search(request(GREEDY), {})).status).toBe(200);
  });

  test("refuses a credential that was valid a moment ago without looking it up", async () => {
    const { search, request, valid } = world();
    await search(request(GREEDY), {});
    valid.clear();
    expect((await search(request(GREEDY), {})).status).toBe(503);
  });
});

describe("admission", () => {
  const idle = { isFull: false, refuses: () => false };

  test("a tenant whose requests take all places for good keeps nobody else from being admitted", async () => {
    const admission = new Admission(idle, undefined, DATABASE_PLACES_MAX);
    const admitted: string[] = [];
    const enter = async (tenant: string) => {
      const leave = await admission.enter(tenant, false);
      admitted.push(tenant);
      return leave;
    };
    for (let i = 0; i < 200; i++) enter(GREEDY).catch(() => {});
    await turn();
    expect(admitted.length).toBe(DATABASE_PLACES_MAX / 2);
    for (const tenant of ["polite", "modest"]) {
      const leave = await enter(tenant);
      leave();
    }
    await turn();
    expect(admitted.slice(-2)).toEqual(["polite", "modest"]);
  });

  test("who waits for a place gets one that is free again, and tenants take turns", async () => {
    const admission = new Admission(idle, undefined, DATABASE_PLACES_MAX);
    const order: string[] = [];
    const leaves: Array<() => void> = [];
    const enter = async (tenant: string) => {
      leaves.push(await admission.enter(tenant, false));
      order.push(tenant);
    };
    const running = Array.from({ length: 40 }, () => enter(GREEDY));
    running.push(...Array.from({ length: 12 }, () => enter("polite")));
    for (let done = 0; done < running.length; done++) {
      while (leaves.length === 0) await turn();
      leaves.shift()?.();
    }
    await Promise.all(running);
    // The greedy tenant was first, and yet all of the polite one's were admitted before half of its own.
    expect(order.lastIndexOf("polite")).toBeLessThan(36);
  });

  test("too many that wait are refused at the expense of the tenant with the most", async () => {
    const admission = new Admission(idle, undefined, DATABASE_PLACES_MAX);
    let refused = 0;
    const note = (error: unknown) => {
      expect(error).toBe(OVERLOADED);
      refused++;
    };
    const places = DATABASE_PLACES_MAX / 2;
    const enter = async (tenant: string) => admission.enter(tenant, false);
    for (let i = 0; i < places + ADMISSION_WAITING_MAX + 10; i++) {
      enter(GREEDY).catch(note);
    }
    await turn();
    expect(refused).toBe(10);
    let isRefused = false;
    for (let i = 0; i < places; i++) {
      enter("polite").catch(() => {
        isRefused = true;
      });
    }
    await turn();
    expect(isRefused).toBeFalse();
    expect(refused).toBeGreaterThan(10);
  });

  test("a turn of the event loop starts a bounded number of one tenant's requests, and then another's", async () => {
    const admission = new Admission(idle, undefined, DATABASE_PLACES_MAX);
    const started: string[] = [];
    const start = (tenant: string) =>
      (admission.start(tenant) ?? Promise.resolve()).then(() => started.push(tenant));
    const all = Array.from({ length: 200 }, () => start(GREEDY));
    all.push(start("polite"));
    await Promise.resolve();
    expect(started.length).toBe(ADMISSION_STARTS_MAX / 2 + 1);
    expect(started).toContain("polite");
    await Promise.all(all);
  });
});
