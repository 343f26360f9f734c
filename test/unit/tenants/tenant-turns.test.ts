import { describe, expect, test } from "bun:test";
import { TenantTurns } from "../../../src/tenants/tenant-turns.ts";
import { advance, turns as loopTurns, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

const LONG_MS = 60_000;
const taken = async (turns: TenantTurns, tenant: string, cost?: number) => {
  const end = await turns.take(tenant, cost === undefined ? {} : { cost });
  return end as NonNullable<typeof end>;
};

describe("turns of a tenant", () => {
  test("come one by one, in the order in which they were asked for, beside those of others", async () => {
    const turns = new TenantTurns({ waitMaxMs: LONG_MS });
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
    const turns = new TenantTurns({ waitMaxMs: 20 });
    const end = await taken(turns, "one");
    let begun = false;
    let outcome: unknown = "waiting";
    const late = turns.run("one", async () => {
      begun = true;
    });
    void late.then((result) => {
      outcome = result;
    });
    await advance(19);
    expect(outcome).toBe("waiting");
    await advance(1);
    expect([outcome, begun]).toEqual([undefined, false]);
    const next = turns.run("one", async () => "done");
    end();
    expect(await next).toBe("done");
  });

  test("do not begin once nobody waits for them any more", async () => {
    const turns = new TenantTurns({ waitMaxMs: LONG_MS });
    const client = new AbortController();
    const end = await taken(turns, "one");
    const left = turns.take("one", { signal: client.signal });
    const next = turns.run("one", async () => "done");
    client.abort();
    end();
    expect(await left).toBeUndefined();
    expect(await next).toBe("done");
    expect(await turns.take("one", { signal: client.signal })).toBeUndefined();
    expect(await turns.run("one", async () => "done")).toBe("done");
  });

  test("that fail end, too", async () => {
    const turns = new TenantTurns({ waitMaxMs: LONG_MS });
    const failing = turns.run("one", () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await turns.run("one", async () => "done")).toBe("done");
  });

  test("take no more than its places together, and one that costs more takes them all", async () => {
    const turns = new TenantTurns({ places: 10, waitMaxMs: LONG_MS });
    let held = 0;
    const work = async (cost: number) => {
      const end = await taken(turns, "one", cost);
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
    const turns = new TenantTurns({
      ...{ waitMaxMs: LONG_MS, restFactor: 4, restMaxMs: LONG_MS, isAlone: () => isAlone },
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
    const end = await taken(turns, "one");
    await advance(20);
    let isNext = false;
    void taken(turns, "one").then(() => {
      isNext = true;
    });
    end();
    await loopTurns();
    expect(isNext).toBe(true);
  });

  test("rest no longer than the bound", async () => {
    const turns = new TenantTurns({ waitMaxMs: LONG_MS, restFactor: 1e9, restMaxMs: 30 });
    const begunAt: number[] = [];
    const run = () =>
      turns.run("one", () => {
        begunAt.push(performance.now());
        return Bun.sleep(1);
      });
    const both = [run(), run()];
    await advance(1 + 30 + 1);
    await Promise.all(both);
    expect(begunAt).toEqual([0, 1 + 30]);
  });
});
