import { describe, expect, test } from "bun:test";
import { REVOCATION_BOUND_MS } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Caller, startApi, type TestApi } from "../../support/api/api.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";

needs("redis-server");

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const one = await startApi({ env });
const two = await startApi({ env, beside: one });
const { sql } = one;
const processes = [one, two];
const CALL_PAUSE_MS = 50;
const PATH = "/errors/unauthorized";

/** Calls both processes until `over`, often enough to keep every cache warm. */
async function keepCalling(path: string, caller: Caller, over: () => boolean): Promise<void> {
  await Promise.all(
    processes.map(async (api) => {
      for (; !over(); await Bun.sleep(CALL_PAUSE_MS)) await api.get(path, caller);
    }),
  );
}

/** Makes a change during calls, and returns how each process answers after the bound. */
async function afterBound(path: string, caller: Caller, change: () => Promise<unknown>) {
  for (const api of processes) expect((await api.get(path, caller)).status).toBe(200);
  let isOver = false;
  const calling = keepCalling(path, caller, () => isOver);
  try {
    await change();
    await Bun.sleep(REVOCATION_BOUND_MS);
    const ask = async (api: TestApi) => (await api.get(path, caller)).status;
    return await Promise.all(processes.map(ask));
  } finally {
    isOver = true;
    await calling;
  }
}

const revoke = (id: string) => sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${id}`;

/** Suppresses notifications, so that caches must expire by themselves. */
async function withoutNotice<T>(work: () => Promise<T>): Promise<T> {
  await sql`ALTER TABLE api_keys DISABLE TRIGGER api_keys_access`;
  await sql`ALTER TABLE memberships DISABLE TRIGGER memberships_access`;
  try {
    return await work();
  } finally {
    await sql`ALTER TABLE api_keys ENABLE TRIGGER api_keys_access`;
    await sql`ALTER TABLE memberships ENABLE TRIGGER memberships_access`;
  }
}

describe("credentials stop working in every process within the bound", () => {
  test("a revoked key stops working in every process within the bound", async () => {
    const key = await one.key(await one.user());
    expect(await afterBound(PATH, key, () => revoke(key.id))).toEqual([401, 401]);
  });

  test("a process refuses what it has taken away itself with the next request, without a notification", async () => {
    const [owner, other] = [await one.user(), await one.user()];
    const project = await one.project(owner);
    await addEnvironment(sql, project);
    await one.join(other, project, "editor");
    const key = await one.key(owner);
    const send = (method: string, path: string) => one.send(method, path, { as: owner });
    const lookup = (as: Caller) => one.post(`/projects/${project.slug}/knowledge/lookup`, {}, as);
    await withoutNotice(async () => {
      for (const caller of [key, other]) expect((await lookup(caller)).status).toBe(200);
      expect((await send("DELETE", `/api-keys/${key.id}`)).status).toBe(204);
      expect((await lookup(key)).status).toBe(401);
      const membership = `/projects/${project.slug}/members/${other.userId}`;
      expect((await send("DELETE", membership)).status).toBe(204);
      expect((await lookup(other)).status).toBe(404);
    });
  });

  test("a revoked key stops working within the bound without a notification", async () => {
    const key = await one.key(await one.user());
    const statuses = await withoutNotice(() => afterBound(PATH, key, () => revoke(key.id)));
    expect(statuses).toEqual([401, 401]);
  });

  test("a revoked key stops working within the bound while Redis is unavailable", async () => {
    await using _killed = await redis.kill();
    const key = await one.key(await one.user());
    expect(await afterBound(PATH, key, () => revoke(key.id))).toEqual([401, 401]);
  });

  test("a permission that is removed from a key stops working within the bound", async () => {
    const user = await one.user();
    const key = await one.key(user, { scopes: ["api_keys.read"] });
    const narrow = () => sql`UPDATE api_keys SET scopes = ${["chunks.read"]} WHERE id = ${key.id}`;
    expect(await afterBound(`/api-keys/${key.id}`, key, narrow)).toEqual([403, 403]);
  });

  test("a lost membership takes effect within the bound without a notification", async () => {
    const { owner: user, project } = await one.ownedProject();
    const leave = () => sql`DELETE FROM memberships WHERE user_id = ${user.userId}`;
    const path = `/projects/${project.slug}/chunks`;
    expect(await withoutNotice(() => afterBound(path, user, leave))).toEqual([404, 404]);
  });
});
