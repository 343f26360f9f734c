import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { openDatabase } from "../../src/db/client.ts";
import { REVOCATION_BOUND_MS } from "../../src/domain/limits.ts";
import { type Caller, startApiProcess, TestApi } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { onCleanup } from "../../support/cleanup.ts";
import type { Fault } from "../../support/faults.ts";
import { startOwnPostgres } from "../../support/processes/own-postgres.ts";
import { TestProxy } from "../../support/processes/proxy.ts";
import { until } from "../../support/until.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

const postgres = await startOwnPostgres();
const direct = new TestApi("", postgres.sql, postgres.url, async () => {});

/** A service that reaches the database through a proxy, with a project that has been searched. */
async function startWorld() {
  const proxy = await TestProxy.start(postgres.url);
  const env = { DATABASE_URL: proxy.url };
  const api = await startApiProcess({ beside: direct, env });
  await untilReady(api.url);
  const world = await TestWorld.create(api);
  await world.write(2);
  await world.agrees(api.url);
  const key = await api.key(world.member);
  const webhook = await addWebhook(api.sql, world.project);
  return { api, proxy, world, key, webhook };
}

type World = Awaited<ReturnType<typeof startWorld>>;

const world = await startWorld();
const { proxy } = world;

/** One request of each kind that needs the database. */
function requests({ api, world, key, webhook }: World, idempotencyKey: string | null) {
  const { project } = world;
  const headers = idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey };
  return {
    list: api.get(`/projects/${project.id}/chunks?limit=1`, key),
    create: api.post("/projects", { name: randomUUID(), slug: `p-${randomUUID()}` }, world.member),
    deliver: api.send("POST", webhook.path, {
      headers: { ...webhook.headers, ...headers },
      json: { idempotencyKey },
    }),
  };
}

async function allAnswered(idempotencyKey: string | null) {
  const sent = Object.entries(requests(world, idempotencyKey));
  return await Promise.all(
    sent.map(async ([name, one]) => {
      const { status, headers, body } = await one;
      const said = body as { slug?: string; error?: string } | undefined;
      return { name, status, slug: said?.slug, headers };
    }),
  );
}

/** Asserts that everything which needs the database is refused, with advice when to retry. */
async function expectRefused(idempotencyKey: string | null): Promise<void> {
  for (const { name, status, slug: said, headers } of await allAnswered(idempotencyKey)) {
    expect(Number(headers.get("retry-after")), name).toBeGreaterThan(0);
    if (name === "deliver" && status === 409) expect(said).toBe("idempotency-conflict");
    else expect([name, status, said]).toEqual([name, 503, "dependency-unavailable"]);
  }
}

/** Waits until everything works. */
async function recovery(): Promise<void> {
  await until("every request is answered", async () => {
    return (await allAnswered(null)).every(({ status }) => status < 300);
  });
}

async function untilNotReady(): Promise<void> {
  await until("the service is not ready", async () => !(await fetch(`${world.api.url}/readyz`)).ok);
}

const search = async (as = world.world.member) =>
  (await world.world.search(world.api.url, undefined, 0, as)).status;

/**
 * Begins a fault while the credential and the scope of a caller are cached. The notice of an earlier change may clear
 * the cache just before: then the fault begins again.
 */
async function beginCached(begin: () => Fault | Promise<Fault>, as?: Caller): Promise<Fault> {
  let fault: Fault | undefined;
  await until("a fault begins while the caller is cached", async () => {
    await until("a search is answered", async () => (await search(as)) === 200);
    fault = await begin();
    if ((await search(as)) === 200) return true;
    await fault.end();
    return false;
  });
  return fault as Fault;
}

/** Searches until the work is done, so that credential and scope stay cached; returns the statuses. */
async function searchDuring(work: Promise<unknown>): Promise<Set<number>> {
  const statuses = new Set<number>();
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  for (; !isDone; await Bun.sleep(20)) statuses.add(await search());
  await done;
  return statuses;
}

// Faults end after the answers that they are about. So an answer proves that nobody waited for the end.
describe("a PostgreSQL that does not answer", () => {
  test("a frozen database: requests get 503, searches go on, and all works again after", async () => {
    const idempotencyKey = randomUUID();
    await using frozen = await beginCached(() => postgres.freeze());
    const refused = (async () => {
      await expectRefused(idempotencyKey);
      await untilNotReady();
    })();
    expect(await searchDuring(refused)).toEqual(new Set([200]));
    // The circuit is open now. A statement that is not sent has a definite outcome.
    for (const { status } of await allAnswered(idempotencyKey)) expect(status).toBe(503);
    expect(await search()).toBe(200);
    await frozen.end();
    await recovery();
    const { api, webhook } = world;
    const before = await storedRows(api.sql, webhook);
    const headers = { ...webhook.headers, "idempotency-key": idempotencyKey };
    const again = await api.send("POST", webhook.path, { headers, json: { idempotencyKey } });
    expect(again.status).toBe(200);
    const after = await storedRows(api.sql, webhook);
    expect(after.events - before.events).toBe(again.body.duplicate ? 0 : 1);
    // Indexing goes on as well.
    await world.world.write(1, "after");
    await world.world.agrees(api.url);
  });

  test("during an outage statements are refused in the same turn, without being sent", async () => {
    const sql = openDatabase(proxy.url, { connections: 1 });
    onCleanup(() => sql.end({ timeout: 0 }));
    const failure = () =>
      sql`SELECT 1`.then(
        () => "success",
        (error) => (error as { code: string }).code,
      );
    expect(await failure()).toBe("success");
    await using stalled = proxy.stall();
    await until("the outage is noticed", async () => (await failure()) === "NEVER_SENT");
    const nextTurn = new Promise<string>((resolve) => setImmediate(() => resolve("next turn")));
    expect(await Promise.race([failure(), nextTurn])).toBe("NEVER_SENT");
    await stalled.end();
    await recovery();
  });

  const faults: Readonly<Record<string, () => Fault>> = {
    "passes nothing on": () => proxy.stall(),
    "delays every answer beyond the deadline": () => proxy.delay(4_000),
    "loses connections without a sign": () => proxy.lose(),
    "refuses connections": () => proxy.cut(),
  };
  for (const [name, begin] of Object.entries(faults)) {
    test(`a network that ${name}: requests get 503, and all works again after`, async () => {
      await using fault = await beginCached(begin);
      await expectRefused(randomUUID());
      expect(await search()).toBe(200);
      await untilNotReady();
      await fault.end();
      await recovery();
      await world.world.write(1, "after");
      await world.world.agrees(world.api.url);
    });
  }

  test("a key that is revoked during an outage stops working within the bound after it", async () => {
    const { api, key } = world;
    await using lost = await beginCached(() => proxy.lose(), key);
    await expectRefused(null);
    await postgres.sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`;
    // Nobody can know of it yet.
    expect(await search(key)).toBe(200);
    await lost.end();
    await untilReady(api.url);
    await Bun.sleep(REVOCATION_BOUND_MS);
    expect(await search(key)).toBe(401);
  });

  test("connections that the server half closes are replaced", async () => {
    world.key = await world.api.key(world.world.member);
    await recovery();
    proxy.halfClose();
    await recovery();
    expect(await search()).toBe(200);
  });
});
