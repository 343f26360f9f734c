import { expect, test } from "bun:test";
import type { Principal } from "../../../../src/auth/principal.ts";
import { createMemoryCoordinator } from "../../../../src/db/coordination/memory.ts";
import { RATE_LIMIT_CALLERS_MAX } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { RateLimits } from "../../../../src/http/load/rate-limit.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

const SYNC_MS = 5;
const principal = (keyId: string | null, userId = "user") => ({ keyId, userId }) as Principal;

/** Processes with a limit of 4 requests in 10 seconds that share a coordinator and a clock. */
function world({ fails = (): boolean => false, userRequests = 0 } = {}) {
  const clock = { now: 1_000_000_003_000 };
  const now = () => clock.now;
  const shared = createMemoryCoordinator(now);
  const coordinator = {
    add: async (...args: Parameters<typeof shared.add>) => {
      if (fails()) throw new Problem("dependency-unavailable");
      return await shared.add(...args);
    },
  };
  const start = () => {
    const options = { requests: 4, userRequests, windowSeconds: 10, syncMs: SYNC_MS };
    return new RateLimits({ ...options, coordinator, now });
  };
  return { clock, start };
}

/** How many of the requests are allowed. */
function allowed(limits: RateLimits, caller: Principal, requests: number): number {
  let count = 0;
  for (let i = 0; i < requests; i++) {
    try {
      limits.take(caller);
      count++;
    } catch (error) {
      expect((error as Problem).slug).toBe("rate-limited");
    }
  }
  return count;
}

function shown(limits: RateLimits, caller: Principal): [string | null, string | null] {
  const headers = new Headers();
  limits.describe(caller, headers);
  return [headers.get("ratelimit-policy"), headers.get("ratelimit")];
}

const synced = () => advance(SYNC_MS);

test("a credential has its quota in each window, and is told when the next one begins", () => {
  const { clock, start } = world();
  const limits = start();
  expect(shown(limits, principal("a"))).toEqual(['"default";q=4;w=10', '"default";r=4;t=7']);
  expect(allowed(limits, principal("a"), 6)).toBe(4);
  expect(shown(limits, principal("a"))[1]).toBe('"default";r=0;t=7');
  clock.now += 6_999;
  expect(allowed(limits, principal("a"), 1)).toBe(0);
  expect(shown(limits, principal("a"))[1]).toBe('"default";r=0;t=1');
  clock.now += 1;
  expect(allowed(limits, principal("a"), 6)).toBe(4);
  limits.close();
});

test("keys of one user have quotas of their own, and all tokens of a user share one", () => {
  const limits = world().start();
  expect(allowed(limits, principal("a"), 5)).toBe(4);
  expect(allowed(limits, principal("b"), 5)).toBe(4);
  expect(allowed(limits, principal(null), 3)).toBe(3);
  expect(allowed(limits, principal(null), 3)).toBe(1);
  limits.close();
});

test("all keys and tokens of a user share the quota of the user, and a refused request counts for none", () => {
  const limits = world({ userRequests: 6 }).start();
  expect(allowed(limits, principal("a"), 5)).toBe(4);
  expect(allowed(limits, principal("b"), 5)).toBe(2);
  expect(allowed(limits, principal(null), 5)).toBe(0);
  expect(shown(limits, principal("b"))).toEqual([
    '"default";q=4;w=10, "user";q=6;w=10',
    '"default";r=2;t=7, "user";r=0;t=7',
  ]);
  expect(allowed(limits, principal("c", "another"), 5)).toBe(4);
  limits.close();
});

test("processes add up what they have counted", async () => {
  const { start } = world();
  const [first, second] = [start(), start()];
  expect(allowed(first, principal("a"), 2)).toBe(2);
  await synced();
  expect(allowed(second, principal("a"), 1)).toBe(1);
  await synced();
  expect(shown(second, principal("a"))[1]).toBe('"default";r=1;t=7');
  expect(allowed(second, principal("a"), 4)).toBe(1);
  await synced();
  // The first process asks when it has counted something itself.
  expect(allowed(first, principal("a"), 1)).toBe(1);
  await synced();
  expect(allowed(first, principal("a"), 1)).toBe(0);
  for (const limits of [first, second]) limits.close();
});

test("while the coordinator does not answer, every process counts on its own", async () => {
  let isDown = true;
  const { start } = world({ fails: () => isDown });
  const [first, second] = [start(), start()];
  expect(allowed(first, principal("a"), 3)).toBe(3);
  await synced();
  expect(allowed(first, principal("a"), 3)).toBe(1);
  expect(allowed(second, principal("a"), 3)).toBe(3);
  isDown = false;
  await synced();
  expect(allowed(first, principal("a"), 1)).toBe(0);
  for (const limits of [first, second]) limits.close();
});

test("a coordinator that is slow is asked by one request at a time", async () => {
  const answers: PromiseWithResolvers<number[]>[] = [];
  const coordinator = {
    add() {
      const answer = Promise.withResolvers<number[]>();
      answers.push(answer);
      return answer.promise;
    },
  };
  const options = { requests: 4, windowSeconds: 10, syncMs: SYNC_MS, coordinator };
  const limits = new RateLimits(options);
  expect(allowed(limits, principal("a"), 1)).toBe(1);
  await synced();
  expect(allowed(limits, principal("a"), 1)).toBe(1);
  await synced();
  expect(answers).toHaveLength(1);
  answers[0]?.resolve([1]);
  await synced();
  expect(answers).toHaveLength(2);
  limits.close();
});

test("the number of credentials that are counted is bounded", () => {
  const limits = world().start();
  expect(allowed(limits, principal("first"), 4)).toBe(4);
  expect(allowed(limits, principal("first"), 1)).toBe(0);
  for (let i = 0; i < RATE_LIMIT_CALLERS_MAX; i++) limits.take(principal(`key-${i}`));
  expect(allowed(limits, principal("first"), 1)).toBe(1);
  limits.close();
});
