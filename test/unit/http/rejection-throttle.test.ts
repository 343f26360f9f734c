import { expect, test } from "bun:test";
import { OVERLOADED, problemBody } from "../../../src/domain/problem/problem.ts";
import { RejectionThrottle } from "../../../src/http/rejection-throttle.ts";
import { problemResponse } from "../../../src/http/respond.ts";
import type { Log } from "../../../src/ops/observability/log.ts";
import { advance, turns, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

/** How often refusals are sent that are due. */
const TICK_MS = 20;

interface Options {
  readonly pauseMs?: number;
  readonly maxWaiting?: number;
  readonly perTick?: number;
}

function world({ pauseMs, maxWaiting, perTick }: Options = {}) {
  const lines: unknown[] = [];
  const log = { warn: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const connectionOf = ({ headers }: Request) => headers.get("x-connection") as string;
  const throttle = new RejectionThrottle(connectionOf, pauseMs, maxWaiting, perTick);
  const refuse = async (requestId: string, connection: string, tenant?: string) => {
    const request = new Request("http://host", { headers: { "x-connection": connection } });
    await throttle.pace(request, tenant);
    return problemResponse(OVERLOADED, { baseUrl: "http://base", requestId, log });
  };
  return { refuse, lines };
}

/** True for an answer that is held back until time has passed. */
const isHeld = (answer: Promise<Response>) =>
  Promise.race([answer.then(() => false), turns().then(() => true)]);

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
  await turns();
  const answers = connections.map((connection) => refuse(connection, connection));
  const held = () => Promise.all(answers.map(isHeld));
  expect(await held()).toEqual([true, true, true, false, false]);
  await advance(39);
  expect(await held()).toEqual([true, true, true, false, false]);
  await advance(1);
  expect(await held()).toEqual(connections.map(() => false));
  const ids = (await Promise.all(answers)).map((answer) => answer.headers.get("x-request-id"));
  expect(ids).toEqual(connections);
});

test("the more connections retry at once, the longer each waits for its turn, and the next retry waits as well", async () => {
  const CONNECTIONS = 5;
  const { refuse } = world({ pauseMs: 200, perTick: 1 });
  const names = Array.from({ length: CONNECTIONS }, (_, i) => `c${i}`);
  for (const name of names) await refuse("r", name);
  await turns();
  const sentAt: [string, number][] = [];
  const retry = async (name: string) => {
    await refuse("r", name);
    sentAt.push([name, performance.now()]);
  };
  const retries = names.map(async (name) => {
    await retry(name);
    // A request of the same turn of the event loop would not wait.
    await turns(1);
    await retry(name);
  });
  await advance(400 + CONNECTIONS * TICK_MS);
  await Promise.all(retries);
  const first = names.map((name, i): [string, number] => [name, 200 + i * TICK_MS]);
  const next = first.map(([name, at]): [string, number] => [name, at + 200]);
  expect(sentAt).toEqual([...first, ...next]);
});

test("requests that arrive together on a connection are all refused at once", async () => {
  const { refuse } = world();
  const held = Array.from({ length: 3 }, () => isHeld(refuse("r", "a")));
  expect(await Promise.all(held)).toEqual([false, false, false]);
});

test("a client that waits for as long as Retry-After says is refused at once", async () => {
  const { refuse } = world({ pauseMs: 20 });
  await refuse("r", "a");
  await advance(20);
  expect(await isHeld(refuse("r", "a"))).toBeFalse();
  await advance(19);
  expect(await isHeld(refuse("r", "a"))).toBeTrue();
});

test("behind a proxy, a tenant waits neither for another's retries on a connection nor for all that are due", async () => {
  const { refuse } = world({ pauseMs: 100, perTick: 1 });
  const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
  for (const name of names) await refuse("r", name, "greedy");
  await turns();
  const order: string[] = [];
  const retry = async (name: string, tenant: string) => {
    await refuse("r", name, tenant);
    order.push(tenant);
  };
  const retries = names.map((name) => retry(name, "greedy"));
  await turns();
  expect(await isHeld(refuse("r", "c0", "modest"))).toBeFalse();
  await turns();
  retries.push(retry("c0", "modest"));
  await advance(100 + names.length * TICK_MS);
  await Promise.all(retries);
  expect(order.indexOf("modest")).toBeLessThan(5);
});

test("thousands of refusals write one line, without a stack", async () => {
  const { refuse, lines } = world();
  const answers = Array.from({ length: 5_000 }, (_, i) => refuse(`r${i}`, `c${i}`));
  await Promise.all(answers);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(JSON.stringify(lines)).not.toContain("stack");
});
