import { describe, expect, test } from "bun:test";
import { startApi } from "../../support/api/api.ts";
import { TestWorld } from "../../support/api/world.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { untilPasses } from "../../support/until.ts";

needs("redis-server");

const ITEMS = 30;

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const service = await startApi({ env });
const world = await TestWorld.create(service);
await world.writeTexts(ITEMS);
await world.agrees(service.url);

describe("lookup cursors in Redis", () => {
  test("a cursor from one process works in another", async () => {
    const other = await startApi({ beside: service, env });
    await world.agrees(other.url);
    for (const question of [{}, { query: "common words" }]) {
      const paths: string[] = [];
      const urls = [service.url, other.url];
      let body: object | null = { ...question, limit: 7 };
      for (let page = 0; body !== null; page++) {
        const answer = await world.lookUp(urls[page % 2] as string, body);
        expect(answer.status).toBe(200);
        for (const item of answer.body.data) paths.push(item.path);
        const { next } = answer.body.page_info;
        body = next === null ? null : { cursor: next };
      }
      expect(paths).toEqual(await world.paths(service.url, question));
      expect(new Set(paths).size).toBe(ITEMS);
    }
  });

  test("a cursor fails while Redis is down and is unknown after Redis restarts empty", async () => {
    const first = await world.lookUp(service.url, { limit: 5 });
    const cursor = first.body.page_info.next;
    expect((await world.lookUp(service.url, { cursor })).status).toBe(200);

    await using killed = await redis.kill();
    const away = await world.lookUp(service.url, { cursor });
    expect(away.status).toBe(503);
    expect(away.body.slug).toBe("dependency-unavailable");
    expect(Number(away.headers.get("retry-after"))).toBeGreaterThan(0);

    await killed.end();
    await untilPasses("the cursor is unknown", async () => {
      const { status, body } = await world.lookUp(service.url, { cursor });
      expect([status, body.slug]).toEqual([400, "invalid-cursor"]);
    });
    expect(await world.paths(service.url, { limit: 5 })).toHaveLength(ITEMS);
  });

  test("a result of one page needs neither a cursor nor Redis", async () => {
    const small = await TestWorld.create(service);
    await small.writeTexts(3);
    await small.agrees(service.url);
    await using _killed = await redis.kill();
    expect(await small.paths(service.url, {})).toHaveLength(3);
    expect(await small.paths(service.url, { query: "common words" })).toHaveLength(3);
  });
});
