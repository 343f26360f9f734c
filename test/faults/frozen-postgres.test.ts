import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { openDatabase } from "../../src/db/client.ts";
import { REVOCATION_BOUND_MS } from "../../src/shared/limits.ts";
import { startApiProcess, TestApi } from "../../support/api/api.ts";
import { IndexWorld, untilReady } from "../../support/api/index-world.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { startOwnPostgres } from "../../support/processes/own-postgres.ts";
import { startProxy } from "../../support/processes/proxy.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

const postgres = await startOwnPostgres();
const direct = new TestApi("", postgres.sql, postgres.url, async () => {});

/** A service that reaches the database through a proxy, with a project that has been searched. */
async function startWorld() {
  const { hostname, port } = new URL(postgres.url);
  const proxy = startProxy(hostname, Number(port));
  const address = new URL(postgres.url);
  address.host = `127.0.0.1:${proxy.port}`;
  const env = { DATABASE_URL: address.href };
  const api = await startApiProcess({ beside: direct, env });
  await untilReady(api.url);
  const world = await IndexWorld.create(api);
  await world.write(2);
  await world.agrees(api.url);
  const key = await api.key(world.member);
  const webhook = await addWebhook(api.sql, world.project);
  return { api, databaseUrl: address.href, proxy, world, key, webhook };
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
  while (!(await allAnswered(null)).every(({ status }) => status < 300)) await Bun.sleep(50);
}

async function untilNotReady(): Promise<void> {
  while ((await fetch(`${world.api.url}/readyz`)).ok) await Bun.sleep(50);
}

const search = async () => (await world.world.search(world.api.url)).status;

/** Caches credential and scope. The notice of an earlier change may clear the cache once. */
async function warm(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    expect(await search()).toBe(200);
    await Bun.sleep(50);
  }
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
    await warm();
    const idempotencyKey = randomUUID();
    await postgres.freeze();
    try {
      const refused = (async () => {
        await expectRefused(idempotencyKey);
        await untilNotReady();
      })();
      expect(await searchDuring(refused)).toEqual(new Set([200]));
      // The circuit is open now. What is not sent has a definite outcome.
      for (const { status } of await allAnswered(idempotencyKey)) expect(status).toBe(503);
      expect(await search()).toBe(200);
    } finally {
      await postgres.thaw();
    }
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
    const sql = openDatabase(world.databaseUrl, { connections: 1 });
    onCleanup(() => sql.end({ timeout: 0 }));
    const failure = () =>
      sql`SELECT 1`.then(
        () => "success",
        (error) => (error as { code: string }).code,
      );
    expect(await failure()).toBe("success");
    proxy.stall();
    while ((await failure()) !== "NEVER_SENT") {
      // The outage has not been noticed yet.
    }
    const nextTurn = new Promise<string>((resolve) => setImmediate(() => resolve("next turn")));
    expect(await Promise.race([failure(), nextTurn])).toBe("NEVER_SENT");
    proxy.restore();
    await recovery();
  });

  const faults = {
    "passes nothing on": {
      begin: () => proxy.stall(),
      end: () => proxy.restore(),
    },
    "delays every answer beyond the deadline": {
      begin: () => proxy.delay(4_000),
      end: () => proxy.restore(),
    },
    "loses connections without a sign": {
      begin: () => proxy.stall(),
      end: () => proxy.forget(),
    },
    "refuses connections": {
      begin: () => proxy.cut(),
      end: () => proxy.restore(),
    },
  };
  for (const [what, { begin, end }] of Object.entries(faults)) {
    test(`a network that ${what}: requests get 503, and all works again after`, async () => {
      await warm();
      begin();
      await expectRefused(randomUUID());
      expect(await search()).toBe(200);
      await untilNotReady();
      end();
      await recovery();
      await world.world.write(1, "after");
      await world.world.agrees(world.api.url);
    });
  }

  test("a key that is revoked during an outage stops working within the bound after it", async () => {
    const { api, key } = world;
    const searchWithKey = async () => (await world.world.search(api.url, undefined, 0, key)).status;
    for (let i = 0; i < 3; i++) {
      expect(await searchWithKey()).toBe(200);
      await Bun.sleep(50);
    }
    proxy.stall();
    await expectRefused(null);
    await postgres.sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`;
    // Nobody can know of it yet.
    expect(await searchWithKey()).toBe(200);
    proxy.forget();
    await untilReady(api.url);
    await Bun.sleep(REVOCATION_BOUND_MS);
    expect(await searchWithKey()).toBe(401);
  });

  test("connections that the server half closes are replaced", async () => {
    world.key = await world.api.key(world.world.member);
    await recovery();
    proxy.halfClose();
    await recovery();
    expect(await search()).toBe(200);
  });
});
