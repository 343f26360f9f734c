import { expect, test } from "bun:test";
import { createAuthenticator } from "../../../src/auth/authenticator.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import { withDoor } from "../../../src/http/door.ts";
import { Refusals } from "../../../src/http/refusals.ts";
import type { Log } from "../../../src/observability/log.ts";
import { createMetrics } from "../../../src/observability/metrics.ts";

const PATH = "/projects/handbook/environments/production/search";
const GREEDY = "greedy";
const KEYS: Readonly<Record<string, string>> = { greedy: generateKey(), polite: generateKey() };

const userOf = (key: string) => Object.keys(KEYS).find((name) => KEYS[name] === key);

/** A service whose queue is full of the searches of one tenant. Tenants are named as their keys. */
function world() {
  const full = { value: true };
  const valid = new Set(Object.keys(KEYS));
  const known = new Set<string>();
  const keys = {
    verify(key: string) {
      const userId = userOf(key) as string;
      if (valid.has(userId)) known.add(userId);
    },
    knownUser(key: string) {
      const userId = userOf(key) as string;
      return known.has(userId) ? userId : undefined;
    },
  };
  const authenticator = createAuthenticator(keys as never, {} as never);
  const gate = {
    get isFull() {
      return full.value;
    },
    refuses: (tenant: string) => tenant === GREEDY,
  };
  const metrics = createMetrics();
  const lines: object[] = [];
  const log = {
    warn() {},
    isLevelEnabled: () => true,
    http: (line: object) => lines.push(line),
  } as unknown as Log;
  const refusals = new Refusals("http://base", log);
  const config = { slowRequestMs: 1 };
  const context = { authenticator, refusals, metrics, log, config };
  const door = withDoor(gate, context, async ({ headers }) => {
    if (headers.has("x-api-key")) await authenticator.authenticate(headers);
    return new Response("inside");
  });
  const ask = async (key: string | undefined, target = PATH, method = "POST", others = {}) => {
    const headers = {
      ...others,
      ...(key === undefined ? {} : { "x-api-key": KEYS[key] ?? generateKey() }),
    };
    return await door(new Request(`http://host${target}`, { method, headers }));
  };
  return { ask, full, valid, metrics, lines };
}

test("a full queue refuses the searches of the tenant that filled it, once the tenant is known", async () => {
  const { ask, metrics } = world();
  expect((await ask(GREEDY)).status).toBe(200);
  const refused = await ask(GREEDY);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await refused.json()) as object).toMatchObject({ slug: "overloaded" });
  expect(await metrics.registry.metrics()).toContain("tessera_overloaded_total 1");
});

test("refusals are in the metrics and in the log of requests, with their operation", async () => {
  const { ask, metrics, lines } = world();
  const release = "/projects/releases/releases/v1/search";
  const environment = "/projects/releases/environments/releases/search";
  for (const path of [release, release, environment]) await ask(GREEDY, path);
  const expected = ["searchRelease", "searchEnvironment"];
  expect(lines).toMatchObject(
    expected.map((operation) => ({ operation, status: 503, userId: GREEDY })),
  );
  const text = await metrics.registry.metrics();
  for (const operation of expected) {
    const labels = `{operation="${operation}",status="503"}`;
    expect(text).toContain(`tessera_http_request_duration_seconds_count${labels} 1`);
  }
});

test("a full queue refuses no other tenant and no other operation", async () => {
  const { ask } = world();
  await ask(GREEDY);
  await ask("polite");
  for (const [key, target, method] of [
    ["polite", PATH, "POST"],
    [undefined, PATH, "POST"],
    ["nobody's", PATH, "POST"],
    [GREEDY, `${PATH}?effort=exact`, "POST"],
    [GREEDY, PATH, "GET"],
    [GREEDY, "/projects/handbook/import", "POST"],
    [GREEDY, "/projects/search/import?x=/search", "POST"],
  ] as const) {
    expect((await ask(key, target, method)).status, `${key} ${target}`).toBe(200);
  }
});

test("an Authorization header of another scheme, as a proxy adds it, does not mix up tenants", async () => {
  const { ask } = world();
  const proxied = { authorization: "Basic shared" };
  await ask(GREEDY, PATH, "POST", proxied);
  await ask("polite", PATH, "POST", proxied);
  expect((await ask(GREEDY, PATH, "POST", proxied)).status).toBe(503);
  expect((await ask("polite", PATH, "POST", proxied)).status).toBe(200);
});

test("searches with a query are refused like those without one", async () => {
  const { ask } = world();
  await ask(GREEDY);
  expect((await ask(GREEDY, `${PATH}?dimension=768`)).status).toBe(503);
});

test("when the queue has room again, everybody enters", async () => {
  const { ask, full } = world();
  await ask(GREEDY);
  expect((await ask(GREEDY)).status).toBe(503);
  full.value = false;
  expect((await ask(GREEDY)).status).toBe(200);
});

test("a credential that was valid a moment ago is not looked up to be refused", async () => {
  const { ask, valid } = world();
  await ask(GREEDY);
  valid.clear();
  expect((await ask(GREEDY)).status).toBe(503);
});
