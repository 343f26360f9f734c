import { describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { type Caller, sharedApi, startApi, type TestApi } from "../../support/api/api.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { scrape } from "../../support/prometheus.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";

needs("redis-server");

const LIMIT = 5;
/** A whole day, so that no window ends during a test but at midnight. */
const WINDOW_SECONDS = 86_400;
const redis = await startRedis();
const counts = new Redis(redis.url);
onCleanup(() => counts.disconnect());
const env = { REDIS_URL: redis.url };
const perWindow = (userRequests: number) => ({
  rateLimit: { requests: LIMIT, userRequests, windowSeconds: WINDOW_SECONDS },
});
const api = await startApi({ env, config: perWindow(0) });
/** It limits users, too, not their credentials alone. */
const other = await startApi({ env, config: perWindow(LIMIT), beside: api });
const unlimited = await sharedApi();

const PATH = "/projects";

async function leftOf(caller: Caller, at: TestApi = api): Promise<number> {
  const { headers } = await at.get(PATH, caller);
  return Number(/;r=(\d+);/.exec(headers.get("ratelimit") ?? "")?.[1]);
}

async function useUp(caller: Caller): Promise<void> {
  for (let i = 0; i < LIMIT; i++) expect((await api.get(PATH, caller)).status).toBe(200);
}

describe("a credential", () => {
  test("is told its quota and what is left of it with every answer", async () => {
    const user = await api.user();
    for (let i = 1; i <= LIMIT; i++) {
      const { status, headers } = await api.get(i === 2 ? "/errors/nothing" : PATH, user);
      expect(status).toBe(i === 2 ? 404 : 200);
      expect(headers.get("ratelimit-policy")).toBe(`"default";q=${LIMIT};w=${WINDOW_SECONDS}`);
      const [, left, seconds] =
        /^"default";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ?? [];
      expect(Number(left)).toBe(LIMIT - i);
      expect(Number(seconds)).toBeGreaterThan(0);
      expect(Number(seconds)).toBeLessThanOrEqual(WINDOW_SECONDS);
    }
  });

  test("is refused with 429 when it has used up its quota, and nothing is changed", async () => {
    const user = await api.user();
    await useUp(user);
    const before = (await scrape(api.url)).sum("tessera_rate_limited_total");
    const refused = await api.post(PATH, { name: "Refused", slug: "refused" }, user);
    expect(refused.status).toBe(429);
    expect(refused.body.slug).toBe("rate-limited");
    expect(refused.headers.get("ratelimit")).toMatch(/^"default";r=0;t=\d+$/);
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(WINDOW_SECONDS);
    expect((await scrape(api.url)).sum("tessera_rate_limited_total")).toBe(before + 1);
    expect(await api.sql`SELECT id FROM projects WHERE slug = 'refused'`).toHaveLength(0);
  });

  test("does not use up the quota of another one", async () => {
    const user = await api.user();
    const keys = [await api.key(user), await api.key(user)] as const;
    await useUp(keys[0]);
    expect((await api.get(PATH, keys[0])).status).toBe(429);
    expect((await api.get(PATH, keys[1])).status).toBe(200);
    expect(await leftOf(user)).toBe(LIMIT - 1);
    // Every token of a user is the same credential.
    expect(await leftOf(await api.token(user.userId, { iat: 1 }))).toBe(LIMIT - 2);
  });

  test("has one quota in all processes", async () => {
    const user = await api.user();
    const untilCounted = (requests: number) =>
      until(`Redis counts ${requests} requests`, async () => {
        const keys = await counts.keys(`*rate:${user.userId}:*`);
        const counted = await Promise.all(keys.map((key) => counts.get(key)));
        return counted[0] === String(requests);
      });
    expect(await leftOf(user)).toBe(LIMIT - 1);
    await leftOf(user);
    await untilCounted(2);
    // The other process learns the sum when it sends what it has counted.
    await leftOf(user, other);
    await untilCounted(3);
    expect(await leftOf(user, other)).toBe(LIMIT - 4);
  });

  test("uses up one request by a call of a tool of the Model Context Protocol", async () => {
    const { owner: user, project } = await api.ownedProject();
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "lookup", arguments: { project_reference: project.slug, query: "x" } },
    };
    const answer = await api.post("/mcp", call, user);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`;r=${LIMIT - 1};`));
  });
});

test("ten keys of one user have no more than the quota of the user", async () => {
  const user = await api.user();
  const keys = await Promise.all(Array.from({ length: 10 }, () => api.key(user)));
  const statuses: number[] = [];
  for (const key of [...keys, user]) statuses.push((await other.get(PATH, key)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
  expect(statuses.filter((status) => status === 429)).toHaveLength(keys.length + 1 - LIMIT);
  const { headers } = await other.get(PATH, user);
  expect(headers.get("ratelimit-policy")).toBe(
    ["default", "user"].map((name) => `"${name}";q=${LIMIT};w=${WINDOW_SECONDS}`).join(", "),
  );
  expect(headers.get("ratelimit")).toMatch(/, "user";r=0;t=\d+$/);
  expect((await other.get(PATH, await api.user())).status).toBe(200);
});

test("requests without a valid credential are refused for that reason, and not counted", async () => {
  for (let i = 0; i < LIMIT + 2; i++) {
    const { status, headers } = await api.get(PATH);
    expect(status).toBe(401);
    expect(headers.get("ratelimit")).toBeNull();
  }
});

test("deliveries with the secret of a webhook are not limited", async () => {
  const user = await api.user();
  const webhook = await addWebhook(api.sql, await api.project(user));
  for (let i = 0; i < LIMIT + 2; i++) {
    const { headers } = webhook;
    expect((await api.send("POST", webhook.path, { body: `${i}`, headers })).status).toBe(200);
  }
});

test("without a limit no answer names one", async () => {
  const user = await api.user();
  for (let i = 0; i < LIMIT + 2; i++) {
    const { status, headers } = await unlimited.get(PATH, user);
    expect(status).toBe(200);
    expect(headers.get("ratelimit")).toBeNull();
    expect(headers.get("ratelimit-policy")).toBeNull();
  }
});

test("while Redis is away, every process limits on its own", async () => {
  await redis.kill();
  const user = await api.user();
  await useUp(user);
  expect((await api.get(PATH, user)).status).toBe(429);
  expect((await other.get(PATH, user)).status).toBe(200);
});
