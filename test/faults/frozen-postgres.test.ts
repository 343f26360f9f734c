import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import {
  DB_OUTAGE_GRACE_MS,
  REVOCATION_BOUND_MS,
  SETTLE_TIMEOUT_MS,
} from "../../src/shared/limits.ts";
import { startApiProcess, TestApi } from "../../support/api/api.ts";
import { IndexWorld, untilReady } from "../../support/api/index-world.ts";
import { startOwnPostgres } from "../../support/processes/own-postgres.ts";
import { startProxy } from "../../support/processes/proxy.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

setDefaultTimeout(120_000);

/** The deadline of reads, and room for a busy machine. */
const ANSWERED_WITHIN_MS = 5_000;
/** A delivery that was sent already is asked about for a while before its outcome is unknown. */
const SETTLED_WITHIN_MS = ANSWERED_WITHIN_MS + SETTLE_TIMEOUT_MS;
const RECOVERED_WITHIN_MS = 5_000;
/** Long enough for every part of the service to notice. */
const FROZEN_MS = 8_000;

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
  return { api, proxy, world, key, webhook };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** The status and slug of an answer, and how long it took. */
async function timed(sending: Promise<{ status: number; headers: Headers; body: unknown }>) {
  const startedAt = performance.now();
  const { status, headers, body } = await sending;
  const slug = (body as { slug?: string; error?: string } | undefined)?.slug;
  return { status, slug, headers, ms: performance.now() - startedAt };
}

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

async function allAnswered(world: World, idempotencyKey: string | null) {
  const sent = Object.entries(requests(world, idempotencyKey));
  const answers = await Promise.all(
    sent.map(async ([name, one]) => ({ name, ...(await timed(one)) })),
  );
  return answers;
}

/** Asserts that everything which needs the database is refused in time, with advice when to retry. */
async function expectRefused(world: World, idempotencyKey: string | null): Promise<void> {
  for (const { name, status, slug, headers, ms } of await allAnswered(world, idempotencyKey)) {
    expect(Number(headers.get("retry-after")), name).toBeGreaterThan(0);
    if (name === "deliver" && status === 409) {
      expect(slug).toBe("idempotency-conflict");
      expect(ms, name).toBeLessThan(SETTLED_WITHIN_MS);
      continue;
    }
    expect([name, status, slug]).toEqual([name, 503, "dependency-unavailable"]);
    expect(ms, name).toBeLessThan(ANSWERED_WITHIN_MS);
  }
}

/** Waits until everything works; returns how long that took. */
async function recovery(world: World): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const answers = await allAnswered(world, null);
    const ms = performance.now() - startedAt;
    if (answers.every(({ status }) => status < 300)) return ms;
    expect(ms, JSON.stringify(answers)).toBeLessThan(4 * RECOVERED_WITHIN_MS);
    await Bun.sleep(50);
  }
}

/** Caches credential and scope. The notice of an earlier change may clear the cache once. */
async function warm({ api, world }: World): Promise<void> {
  for (let i = 0; i < 3; i++) {
    expect((await world.search(api.url)).status).toBe(200);
    await Bun.sleep(50);
  }
}

/** Keeps searching, so that credential and scope are cached; returns the statuses. */
function keepSearching({ api, world }: World, ms: number): Promise<number[]> {
  const search = async () => (await world.search(api.url)).status;
  return (async () => {
    const statuses: number[] = [];
    for (const deadline = performance.now() + ms; performance.now() < deadline; ) {
      statuses.push(await search());
      await Bun.sleep(20);
    }
    return statuses;
  })();
}

describe("a PostgreSQL that does not answer", () => {
  test("a frozen database: requests get 503 in time, searches go on, and all works again after", async () => {
    const world = await startWorld();
    await recovery(world);
    await warm(world);
    const idempotencyKey = randomUUID();
    await postgres.freeze();
    try {
      expect(FROZEN_MS).toBeLessThan(DB_OUTAGE_GRACE_MS);
      const searching = keepSearching(world, FROZEN_MS);
      const first = performance.now();
      await expectRefused(world, idempotencyKey);
      console.info(`frozen: refused after ${Math.round(performance.now() - first)} ms`);
      // The circuit is open now: nobody waits for the database any more.
      for (let i = 0; i < 5; i++) {
        for (const { name, ms } of await allAnswered(world, idempotencyKey)) {
          expect(ms, name).toBeLessThan(ANSWERED_WITHIN_MS / 2);
        }
      }
      const statuses = await searching;
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(statuses.length).toBeGreaterThan(10);
      const ready = await fetch(`${world.api.url}/readyz`);
      expect(ready.status).toBe(503);
    } finally {
      await postgres.thaw();
    }
    const ms = await recovery(world);
    console.info(`frozen: recovered after ${Math.round(ms)} ms`);
    expect(ms).toBeLessThan(RECOVERED_WITHIN_MS);
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

  const faults = {
    "passes nothing on": {
      begin: (w: World) => w.proxy.stall(),
      end: (w: World) => w.proxy.restore(),
    },
    "delays every answer beyond the deadline": {
      begin: (w: World) => w.proxy.delay(4_000),
      end: (w: World) => w.proxy.restore(),
    },
    "loses connections without a sign": {
      begin: (w: World) => w.proxy.stall(),
      end: (w: World) => w.proxy.forget(),
    },
    "refuses connections": {
      begin: (w: World) => w.proxy.cut(),
      end: (w: World) => w.proxy.restore(),
    },
  };
  for (const [what, { begin, end }] of Object.entries(faults)) {
    test(`a network that ${what}: requests get 503 in time, and all works again after`, async () => {
      const world = await startWorld();
      await recovery(world);
      await warm(world);
      begin(world);
      await expectRefused(world, randomUUID());
      expect((await world.world.search(world.api.url)).status).toBe(200);
      await Bun.sleep(1_000);
      end(world);
      const ms = await recovery(world);
      console.info(`${what}: recovered after ${Math.round(ms)} ms`);
      expect(ms).toBeLessThan(RECOVERED_WITHIN_MS);
      await world.world.write(1, "after");
      await world.world.agrees(world.api.url);
    });
  }

  test("a key that is revoked during an outage stops working within the bound after it", async () => {
    const world = await startWorld();
    await recovery(world);
    const { api, key, proxy } = world;
    const search = async () => (await world.world.search(api.url, undefined, 0, key)).status;
    for (let i = 0; i < 3; i++) {
      expect(await search()).toBe(200);
      await Bun.sleep(50);
    }
    proxy.stall();
    await expectRefused(world, null);
    await postgres.sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`;
    // Nobody can know of it yet.
    expect(await search()).toBe(200);
    proxy.forget();
    await untilReady(api.url);
    await Bun.sleep(REVOCATION_BOUND_MS);
    expect(await search()).toBe(401);
  });

  test("connections that the server half closes are replaced", async () => {
    const world = await startWorld();
    await recovery(world);
    world.proxy.halfClose();
    expect(await recovery(world)).toBeLessThan(RECOVERED_WITHIN_MS);
    expect((await world.world.search(world.api.url)).status).toBe(200);
  });
});
