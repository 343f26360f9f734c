import { expect, test } from "bun:test";
import { Refusals } from "../../../src/http/refusals.ts";
import type { Log } from "../../../src/observability/log.ts";
import { OVERLOADED, problemBody } from "../../../src/problem/problem.ts";

function world(options: ConstructorParameters<typeof Refusals>[3] = {}) {
  const lines: unknown[] = [];
  const log = { warn: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const connectionOf = ({ headers }: Request) => headers.get("x-connection") as string;
  const refusals = new Refusals("http://base", log, connectionOf, options);
  const refuse = (id: string, connection: string, tenant?: string, own?: () => Response) => {
    const request = new Request("http://host", { headers: { "x-connection": connection } });
    return refusals.respond(id, request, tenant, own);
  };
  return { refuse, lines };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** True for an answer that is held back for longer than the turn of the event loop. */
const isHeld = (answer: Promise<Response>) =>
  Promise.race([answer.then(() => false), turn().then(() => true)]);

test("a refusal is the problem document of the request, with Retry-After", async () => {
  const { refuse } = world();
  const response = await refuse("some-id", "a");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(response.headers.get("x-request-id")).toBe("some-id");
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toEqual(problemBody(OVERLOADED, "http://base", "some-id"));
});

test("a connection is refused at once, one that retries at once waits, and too many are refused at once again", async () => {
  const { refuse } = world({ pauseMs: 40, maxWaiting: 3 });
  const connections = ["a", "b", "c", "d", "e"];
  const first = connections.map((connection) => isHeld(refuse("r", connection)));
  expect(await Promise.all(first)).toEqual(connections.map(() => false));
  await turn();
  const startedAt = performance.now();
  const answers = connections.map((connection) => refuse(connection, connection));
  expect(await Promise.all(answers.map(isHeld))).toEqual([true, true, true, false, false]);
  const ids = (await Promise.all(answers)).map((answer) => answer.headers.get("x-request-id"));
  expect(ids).toEqual(connections);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(40);
});

test("the more connections retry at once, the longer each waits for its turn, and the next retry waits as well", async () => {
  const CONNECTIONS = 5;
  const { refuse } = world({ pauseMs: 200, perTick: 1 });
  const names = Array.from({ length: CONNECTIONS }, (_, i) => `c${i}`);
  for (const name of names) await refuse("r", name);
  await turn();
  const startedAt = performance.now();
  const order: string[] = [];
  const answers = names.map(async (name) => {
    await refuse("r", name);
    order.push(name);
    return refuse("r", name);
  });
  while (order.length < CONNECTIONS) await Bun.sleep(1);
  const sentAt = performance.now();
  expect(order).toEqual(names);
  // Timers are late, and never early.
  expect(sentAt - startedAt).toBeGreaterThanOrEqual(200 + (CONNECTIONS - 2) * 20);
  await answers[0];
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(400);
});

test("requests that arrive together on a connection are all refused at once", async () => {
  const { refuse } = world();
  const held = Array.from({ length: 3 }, () => isHeld(refuse("r", "a")));
  expect(await Promise.all(held)).toEqual([false, false, false]);
});

test("a client that waits for as long as Retry-After says is refused at once", async () => {
  const { refuse } = world({ pauseMs: 20 });
  await refuse("r", "a");
  await Bun.sleep(25);
  expect(await isHeld(refuse("r", "a"))).toBeFalse();
});

test("behind a proxy, a tenant waits neither for another's retries on a connection nor for all that are due", async () => {
  const { refuse } = world({ pauseMs: 100, perTick: 1 });
  const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
  for (const name of names) await refuse("r", name, "greedy");
  await turn();
  const order: string[] = [];
  const retry = async (name: string, tenant: string) => {
    await refuse("r", name, tenant);
    order.push(tenant);
  };
  const retries = names.map((name) => retry(name, "greedy"));
  await turn();
  expect(await isHeld(refuse("r", "c0", "modest"))).toBeFalse();
  await turn();
  retries.push(retry("c0", "modest"));
  await Promise.all(retries);
  expect(order.indexOf("modest")).toBeLessThan(5);
});

test("a refusal with a reason of its own waits as any other", async () => {
  const { refuse } = world({ pauseMs: 20 });
  const own = () => new Response("its reason");
  expect(await (await refuse("r", "a", "greedy", own)).text()).toBe("its reason");
  await turn();
  const again = refuse("r", "a", "greedy", own);
  expect(await isHeld(again)).toBeTrue();
  expect(await (await again).text()).toBe("its reason");
});

test("thousands of refusals write one line, without a stack", () => {
  const { refuse, lines } = world();
  for (let i = 0; i < 5_000; i++) refuse(`r${i}`, `c${i}`);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(JSON.stringify(lines)).not.toContain("stack");
});
