import { describe, expect, test } from "bun:test";
import {
  DATABASE_PLACES_MAX,
  GATE_WAITING_MAX,
  TURN_STARTS_MAX,
} from "../../../../src/domain/limits.ts";
import { OVERLOADED } from "../../../../src/domain/problem/problem.ts";
import { openGates } from "../../../../src/http/load/gates.ts";
import { FairSemaphore, SERIAL } from "../../../../src/ops/tenants/fair-semaphore.ts";
import { advance, turns as loopTurns, useFakeClock } from "../../../../support/fake-clock.ts";

const GREEDY = "greedy";
const turn = () => new Promise((resolve) => setImmediate(resolve));
const gates = () => openGates({ refuses: () => false }, { databasePermits: DATABASE_PLACES_MAX });

describe("the gate of the database", () => {
  test("a tenant whose requests take all places for good keeps nobody else from being admitted", async () => {
    const { database } = gates();
    const admitted: string[] = [];
    const enter = async (tenant: string) => {
      await database.acquire(tenant);
      admitted.push(tenant);
    };
    for (let i = 0; i < 200; i++) enter(GREEDY).catch(() => {});
    await turn();
    expect(admitted.length).toBe(DATABASE_PLACES_MAX / 2);
    for (const tenant of ["polite", "modest"]) {
      await enter(tenant);
      database.release(tenant);
    }
    await turn();
    expect(admitted.slice(-2)).toEqual(["polite", "modest"]);
  });

  test("who waits for a place gets one that is free again, and tenants take turns", async () => {
    const { database } = gates();
    const order: string[] = [];
    const enter = async (tenant: string) => {
      await database.acquire(tenant);
      order.push(tenant);
    };
    const running = Array.from({ length: 40 }, () => enter(GREEDY));
    running.push(...Array.from({ length: 12 }, () => enter("polite")));
    for (let done = 0; done < running.length; done++) {
      while (order.length <= done) await turn();
      database.release(order[done] as string);
    }
    await Promise.all(running);
    // The greedy tenant was first, and yet all of the polite one's were admitted before half of its own.
    expect(order.lastIndexOf("polite")).toBeLessThan(36);
  });

  test("too many that wait are refused at the expense of the tenant with the most", async () => {
    const { database } = gates();
    let refused = 0;
    const note = (error: unknown) => {
      expect(error).toBe(OVERLOADED);
      refused++;
    };
    const places = DATABASE_PLACES_MAX / 2;
    const enter = async (tenant: string) => database.acquire(tenant);
    for (let i = 0; i < places + GATE_WAITING_MAX + 10; i++) {
      enter(GREEDY).catch(note);
    }
    await turn();
    expect(refused).toBe(10);
    let isRefused = false;
    for (let i = 0; i < places; i++) {
      enter("polite").catch(() => {
        isRefused = true;
      });
    }
    await turn();
    expect(isRefused).toBeFalse();
    expect(refused).toBeGreaterThan(10);
  });
});

test("a turn of the event loop starts a bounded number of one tenant's requests, and then another's", async () => {
  const { starts } = gates();
  const started: string[] = [];
  const start = async (tenant: string) => {
    await starts.acquire(tenant);
    started.push(tenant);
  };
  const all = Array.from({ length: 200 }, () => start(GREEDY));
  all.push(start("polite"));
  await Promise.resolve();
  expect(started.length).toBe(TURN_STARTS_MAX / 2 + 1);
  expect(started).toContain("polite");
  await Promise.all(all);
});

describe("permits", () => {
  test("are half of one tenant's at most, and others always find some", () => {
    const permits = new FairSemaphore({ permits: 64 });
    const take = (tenant: string) => {
      let taken = 0;
      for (; permits.hasRoom(tenant); taken++) permits.charge(tenant);
      return taken;
    };
    expect(take("a")).toBe(32);
    expect(take("b")).toBe(16);
    expect(take("c")).toBe(8);
    expect(permits.hasRoom("a")).toBeFalse();
    for (let i = 0; i < 32; i++) permits.release("a");
    expect(permits.hasRoom("a")).toBeTrue();
  });

  test("let no request of a tenant overtake one that waits, although there is room for it", async () => {
    const permits = new FairSemaphore({ permits: 4, tenantPermits: 4, maxWaiting: 10 });
    const entered: string[] = [];
    expect(permits.acquire("a", 3)).toBeUndefined();
    const waiting = [2, 1].map((cost) =>
      permits.acquire("a", cost)?.then(() => entered.push(`${cost}`)),
    );
    expect(permits.acquire("b", 1)).toBeUndefined();
    permits.release("b", 1);
    permits.release("a", 3);
    await Promise.all(waiting);
    expect(entered).toEqual(["2", "1"]);
  });

  test("without room to wait are refused, and are free again after work that failed", async () => {
    const permits = new FairSemaphore({ permits: 2 });
    const { promise, reject } = Promise.withResolvers<never>();
    const failing = permits.run("a", () => promise);
    let isStarted = false;
    const refused = permits.run("a", async () => {
      isStarted = true;
    });
    await expect(refused).rejects.toBe(OVERLOADED);
    expect(await permits.run("b", async () => "done")).toBe("done");
    reject(new Error("failed"));
    await expect(failing).rejects.toThrow("failed");
    expect(isStarted).toBeFalse();
    expect(permits.acquired).toBe(0);
  });
});

const LONG_MS = 60_000;

describe("turns of a tenant", () => {
  useFakeClock();
  test("come one by one, in the order in which they were asked for, beside those of others", async () => {
    const turns = new FairSemaphore({ ...SERIAL, waitMaxMs: LONG_MS });
    const order: string[] = [];
    const run = (name: string, tenant: string) =>
      turns.run(tenant, async () => {
        order.push(`${name} begins`);
        await Bun.sleep(5);
        order.push(`${name} ends`);
      });
    const all = [run("a", "one"), run("b", "one"), run("c", "one"), run("x", "other")];
    await advance(3 * 5);
    await Promise.all(all);
    const own = order.filter((each) => !each.startsWith("x"));
    expect(own).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(order.indexOf("x begins")).toBeLessThan(order.indexOf("a ends"));
  });

  test("are refused to those who have waited for too long, and the next one gets its turn", async () => {
    const turns = new FairSemaphore({ ...SERIAL, waitMaxMs: 20 });
    const end = await turns.lease("one");
    let begun = false;
    let outcome: unknown = "waiting";
    const late = turns.run("one", async () => {
      begun = true;
    });
    void late.catch((error) => {
      outcome = error;
    });
    await advance(19);
    expect(outcome).toBe("waiting");
    await advance(1);
    expect([outcome, begun]).toEqual([OVERLOADED, false]);
    const next = turns.run("one", async () => "done");
    end();
    expect(await next).toBe("done");
  });

  test("do not begin once nobody waits for them any more", async () => {
    const turns = new FairSemaphore({ ...SERIAL, waitMaxMs: LONG_MS });
    const client = new AbortController();
    const end = await turns.lease("one");
    const left = turns.lease("one", { signal: client.signal }).catch((error) => error.slug);
    const next = turns.run("one", async () => "done");
    client.abort();
    end();
    expect(await left).toBe("overloaded");
    expect(await next).toBe("done");
    await expect(turns.lease("one", { signal: client.signal })).rejects.toBe(OVERLOADED);
    expect(await turns.run("one", async () => "done")).toBe("done");
  });

  test("end once, however often they are left", async () => {
    const turns = new FairSemaphore({ ...SERIAL, tenantPermits: 2 });
    const first = await turns.lease("one");
    await turns.lease("one");
    first();
    first();
    expect(turns.acquired).toBe(1);
  });

  test("that fail end, too", async () => {
    const turns = new FairSemaphore({ ...SERIAL, waitMaxMs: LONG_MS });
    const failing = turns.run("one", () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await turns.run("one", async () => "done")).toBe("done");
  });

  test("take no more than its places together, and one that costs more takes them all", async () => {
    const turns = new FairSemaphore({ ...SERIAL, tenantPermits: 10, waitMaxMs: LONG_MS });
    let held = 0;
    const work = async (cost: number) => {
      const end = await turns.lease("one", { cost });
      held += Math.min(cost, 10);
      expect(held).toBeLessThanOrEqual(10);
      await Bun.sleep(1);
      held -= Math.min(cost, 10);
      end();
    };
    const all = [3, 3, 3, 8, 100, 1, 9, 2, 2, 2, 2, 2, 10].map(work);
    await advance(all.length);
    await Promise.all(all);
    expect(held).toBe(0);
  });

  test("are followed by a rest in proportion, but where it is alone", async () => {
    let isAlone = false;
    const turns = new FairSemaphore({
      ...SERIAL,
      waitMaxMs: LONG_MS,
      restMs: (_, tookMs) => (isAlone ? 0 : 4 * tookMs),
    });
    const begunAt: number[] = [];
    const run = () =>
      turns.run("one", () => {
        begunAt.push(performance.now());
        return Bun.sleep(20);
      });
    const both = [run(), run()];
    await advance(20 + 4 * 20 + 20);
    await Promise.all(both);
    expect(begunAt).toEqual([0, 20 + 4 * 20]);
    // The rest that has begun meanwhile ends.
    await advance(4 * 20);
    isAlone = true;
    const end = await turns.lease("one");
    await advance(20);
    let isNext = false;
    void turns.lease("one").then(() => {
      isNext = true;
    });
    end();
    await loopTurns();
    expect(isNext).toBe(true);
  });
});
