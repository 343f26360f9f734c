import { describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import fc from "fast-check";
import {
  type Acquired,
  CoordinationRefusal,
  type Coordinator,
  type Lease,
} from "../../../../src/db/coordination/coordinator.ts";
import { createMemoryCoordinator } from "../../../../src/db/coordination/memory.ts";
import { openRedisCoordinator } from "../../../../src/db/coordination/redis.ts";
import {
  COORDINATION_VALUES_MAX_BYTES,
  REDIS_OWNER_VALUES_MAX_BYTES,
} from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { createLog } from "../../../../src/ops/observability/log.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { startRedis } from "../../../../support/processes/redis.ts";
import { lacks } from "../../../../support/programs.ts";
import { until } from "../../../../support/until.ts";

const LONG_MS = 60_000;
const SHORT_MS = 40;
/** After this time a key of Redis has expired, whose clock counts whole milliseconds. */
const EXPIRED_MS = 10;

/** @param owner one of their own for each test that does not name it */
const lifetime = (ttlSeconds: number, owner: string = crypto.randomUUID()) => ({
  owner,
  ttlSeconds,
});

const log = createLog("silent");
const withoutRedis = lacks("redis-server");
const redis = withoutRedis ? undefined : await startRedis();

/** Commands take as long as a busy machine needs. */
const open = (url: string, identity = "a") =>
  openRedisCoordinator(url, identity, log, undefined, LONG_MS);

async function overRedis(): Promise<Coordinator> {
  const coordinator = await open(redis?.url ?? "");
  onCleanup(() => coordinator.close());
  return coordinator;
}

interface Place {
  readonly coordinator: Coordinator;
  /** Lets the time pass in which values and leases expire. */
  pass(ms: number): Promise<void>;
}

function inThisProcess(): Place {
  let now = Date.now();
  return {
    coordinator: createMemoryCoordinator(() => now),
    async pass(ms) {
      now += ms;
    },
  };
}

const throughRedis = async (): Promise<Place> => ({
  coordinator: await overRedis(),
  pass: (ms) => Bun.sleep(ms + EXPIRED_MS),
});

const places: Record<string, Place> = {
  "in this process": inThisProcess(),
  ...(withoutRedis ? {} : { "through Redis": await throughRedis() }),
};

function leaseOf(acquired: Acquired): Lease {
  if ("lease" in acquired) return acquired.lease;
  throw new Error(`the lease is held for ${acquired.heldForMs} ms`);
}

for (const [place, { coordinator, pass }] of Object.entries(places)) {
  const name = () => crypto.randomUUID();
  const isFree = (acquired: Acquired) => "lease" in acquired;

  describe(`counters ${place}`, () => {
    test("begin at 0, add up, and are independent of one another", async () => {
      const [first, second] = [name(), name()];
      expect(await coordinator.add(new Map([[first, 3]]), 60)).toEqual([3]);
      const both = new Map([
        [second, 1],
        [first, 4],
      ]);
      expect(await coordinator.add(both, 60)).toEqual([1, 7]);
      expect(await coordinator.get(first)).toBeNull();
      expect(await coordinator.add(new Map(), 60)).toEqual([]);
    });

    test("lose nothing to concurrent additions", async () => {
      const counted = name();
      const additions = Array.from({ length: 50 }, () =>
        coordinator.add(new Map([[counted, 2]]), 60),
      );
      await Promise.all(additions);
      expect(await coordinator.add(new Map([[counted, 0]]), 60)).toEqual([100]);
    });

    test("vanish after their time", async () => {
      const counted = name();
      await coordinator.add(new Map([[counted, 5]]), 1);
      await pass(1_000);
      expect(await coordinator.add(new Map([[counted, 0]]), 1)).toEqual([0]);
    });
  });

  describe(`a lease ${place}`, () => {
    test("a held lease is refused to others, with the remaining time", async () => {
      const wanted = name();
      const lease = leaseOf(await coordinator.acquire(wanted, LONG_MS));
      expect(lease.name).toBe(wanted);
      const other = await coordinator.acquire(wanted, LONG_MS);
      expect(other).toEqual({ heldForMs: expect.any(Number) });
      const heldForMs = "heldForMs" in other ? other.heldForMs : 0;
      expect(heldForMs).toBeGreaterThan(0);
      expect(heldForMs).toBeLessThanOrEqual(LONG_MS);
    });

    test("of many concurrent requests for a lease one gets it", async () => {
      const wanted = name();
      const asked = Array.from({ length: 50 }, () => coordinator.acquire(wanted, LONG_MS));
      expect((await Promise.all(asked)).filter(isFree)).toHaveLength(1);
    });

    test("leases of different names are independent, with any characters in them", async () => {
      const names = fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 2, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(names, async (wanted) => {
          const acquired = await Promise.all(wanted.map((n) => coordinator.acquire(n, LONG_MS)));
          expect(acquired.every(isFree)).toBe(true);
          for (const each of acquired) await leaseOf(each).release();
        }),
        { numRuns: 20 },
      );
    });

    test("a released lease can be acquired", async () => {
      const wanted = name();
      await leaseOf(await coordinator.acquire(wanted, LONG_MS)).release();
      expect(isFree(await coordinator.acquire(wanted, LONG_MS))).toBe(true);
    });

    test("an expired lease can be acquired, and its holder has lost it", async () => {
      const wanted = name();
      const lost = leaseOf(await coordinator.acquire(wanted, SHORT_MS));
      await pass(SHORT_MS);
      expect(isFree(await coordinator.acquire(wanted, LONG_MS))).toBe(true);
      expect(await lost.renew(LONG_MS)).toBe(false);
    });

    test("a former holder cannot release a lease", async () => {
      const wanted = name();
      const lost = leaseOf(await coordinator.acquire(wanted, SHORT_MS));
      await pass(SHORT_MS);
      expect(isFree(await coordinator.acquire(wanted, LONG_MS))).toBe(true);
      await lost.release();
      expect(isFree(await coordinator.acquire(wanted, LONG_MS))).toBe(false);
    });

    test("a lease that is renewed in time lasts longer", async () => {
      const wanted = name();
      const lease = leaseOf(await coordinator.acquire(wanted, LONG_MS));
      expect(await lease.renew(2 * LONG_MS)).toBe(true);
      const other = await coordinator.acquire(wanted, LONG_MS);
      expect("heldForMs" in other && other.heldForMs).toBeGreaterThan(LONG_MS);
    });

    test("a released lease cannot be renewed", async () => {
      const lease = leaseOf(await coordinator.acquire(name(), LONG_MS));
      await lease.release();
      await lease.release();
      expect(await lease.renew(LONG_MS)).toBe(false);
    });
  });

  describe(`a value ${place}`, () => {
    test("a value is stored unchanged and can be replaced", async () => {
      await fc.assert(
        fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (key, value, next) => {
          await coordinator.put(key, value, lifetime(60));
          expect(await coordinator.get(key)).toBe(value);
          await coordinator.put(key, next, lifetime(60));
          expect(await coordinator.get(key)).toBe(next);
        }),
        { numRuns: 20 },
      );
    });

    test("a value that was never stored is null", async () => {
      expect(await coordinator.get(name())).toBeNull();
    });

    test("a value and a lease of the same name are independent", async () => {
      const shared = name();
      await coordinator.put(shared, "value", lifetime(60));
      expect(isFree(await coordinator.acquire(shared, LONG_MS))).toBe(true);
      expect(await coordinator.get(shared)).toBe("value");
    });

    test("an expired value is null", async () => {
      const key = name();
      await coordinator.put(key, "value", lifetime(1));
      await pass(1_000);
      expect(await coordinator.get(key)).toBeNull();
    });
  });

  test(`the check of coordination ${place} reports that it answers`, async () => {
    expect(await coordinator.check()).toBeNull();
  });
}

describe("the values of an owner are bounded", () => {
  const OVERHEAD = 500;

  test("in this process: who holds the most loses the oldest, however many they are, and nobody else does", async () => {
    const coordinator = createMemoryCoordinator();
    await coordinator.put("modest", "v", lifetime(60, "modest"));
    const eighth = "x".repeat(COORDINATION_VALUES_MAX_BYTES / 2 / 8 - OVERHEAD);
    for (let i = 0; i < 20; i++) await coordinator.put(`large-${i}`, eighth, lifetime(60, "heavy"));
    const small = "x".repeat(500);
    for (let i = 0; i < 60_000; i++) await coordinator.put(`${i}`, small, lifetime(60, "heavy"));
    expect(await coordinator.get("modest")).toBe("v");
    expect((await coordinator.get("large-19")) === null).toBe(true);
    expect(await coordinator.get("0")).toBeNull();
    expect(await coordinator.get("59999")).toBe(small);
  });

  test("in this process: a newcomer has room at once, and a replaced value frees its own", async () => {
    const coordinator = createMemoryCoordinator();
    const quarter = "x".repeat(COORDINATION_VALUES_MAX_BYTES / 2 / 4 - OVERHEAD);
    for (let i = 0; i < 10; i++) await coordinator.put("replaced", quarter, lifetime(60, "heavy"));
    for (const key of ["a", "b", "c"]) await coordinator.put(key, quarter, lifetime(60, "heavy"));
    expect(await coordinator.get("replaced")).toBe(quarter);
    await coordinator.put("d", quarter, lifetime(60, "newcomer"));
    expect(await coordinator.get("replaced")).toBeNull();
    for (const key of ["a", "b", "c", "d"]) expect(await coordinator.get(key)).toBe(quarter);
  });

  test.skipIf(withoutRedis)(
    "through Redis: beyond its bytes an owner loses the oldest, and nobody else does",
    async () => {
      const coordinator = await overRedis();
      await coordinator.put("modest", "v", lifetime(60, "modest"));
      // Small enough to be sent within the time of a command on a busy machine.
      const parts = 64;
      const part = "x".repeat(REDIS_OWNER_VALUES_MAX_BYTES / parts - OVERHEAD);
      for (let i = 0; i < parts; i++)
        await coordinator.put(`large-${i}`, part, lifetime(60, "heavy"));
      expect((await coordinator.get("large-0")) === part).toBe(true);
      for (let i = parts; i < parts + 2; i++)
        await coordinator.put(`large-${i}`, part, lifetime(60, "heavy"));
      await until("the oldest value is gone", async () => {
        return (await coordinator.get("large-0")) === null;
      });
      for (const key of ["large-2", `large-${parts + 1}`]) {
        expect((await coordinator.get(key)) === part).toBe(true);
      }
      expect(await coordinator.get("modest")).toBe("v");
    },
  );
});

describe("an unavailable Redis", () => {
  const isUnavailable = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(Problem);
    expect(error.slug).toBe("dependency-unavailable");
  };
  const answersAgain = (coordinator: Coordinator) =>
    until("the coordinator answers again", () =>
      coordinator.get("anything").then(
        () => true,
        () => false,
      ),
    );

  test.skipIf(withoutRedis)(
    "a connection that is dead and was not closed is replaced",
    async () => {
      const server = await startRedis();
      let deadConnections = 0;
      const relay = Bun.listen<{ to: Promise<Socket>; isDead: () => boolean }>({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          open(from) {
            const generation = deadConnections;
            const isDead = () => generation < deadConnections;
            const { hostname, port } = new URL(server.url);
            const to = Bun.connect({
              hostname,
              port: Number(port),
              socket: { data: (_, bytes) => void (isDead() || from.write(bytes)) },
            });
            from.data = { to, isDead };
          },
          data: async (from, bytes) => {
            const to = await from.data.to;
            if (!from.data.isDead()) to.write(bytes);
          },
        },
      });
      onCleanup(async () => relay.stop(true));
      const url = `redis://127.0.0.1:${relay.port}`;
      const coordinator = await openRedisCoordinator(url, "a", log);
      onCleanup(() => coordinator.close());
      await coordinator.put("key", "value", lifetime(60));
      deadConnections++;
      await isUnavailable(coordinator.get("key"));
      await answersAgain(coordinator);
      expect(await coordinator.get("key")).toBe("value");
      await server.stop();
    },
  );

  test.skipIf(withoutRedis)(
    "a node of a cluster is refused, or reported if it comes later",
    async () => {
      const node = await startRedis(["--cluster-enabled", "yes"]);
      const opened = open(node.url);
      expect(await opened.catch((error) => error)).toBeInstanceOf(CoordinationRefusal);
      await using killed = await node.kill();
      const coordinator = await open(node.url);
      onCleanup(() => coordinator.close());
      await killed.end();
      await until(
        "the node answers",
        async () => (await coordinator.check()) !== "Redis does not answer",
      );
      expect(await coordinator.check()).toMatch(/refuses commands: CLUSTERDOWN|node of a cluster/);
      await node.stop();
    },
  );

  test.skipIf(withoutRedis)(
    "installations with other databases share a server, and nothing on it",
    async () => {
      const server = await startRedis();
      const [one, other] = (await Promise.all(
        ["a", "b"].map((identity) => open(server.url, identity)),
      )) as [Coordinator, Coordinator];
      onCleanup(() => one.close());
      onCleanup(() => other.close());
      leaseOf(await one.acquire("lease", LONG_MS));
      leaseOf(await other.acquire("lease", LONG_MS));
      await one.put("key", "value", lifetime(60));
      expect(await other.get("key")).toBeNull();
      expect(await one.add(new Map([["count", 2]]), 60)).toEqual([2]);
      expect(await other.add(new Map([["count", 3]]), 60)).toEqual([3]);
      await server.stop();
    },
  );

  test.skipIf(withoutRedis)("the service starts while Redis is unavailable", async () => {
    const server = await startRedis();
    await using killed = await server.kill();
    const coordinator = await open(server.url);
    onCleanup(() => coordinator.close());
    await isUnavailable(coordinator.acquire("lease", LONG_MS));
    await killed.end();
    await answersAgain(coordinator);
    await server.stop();
  });
});
