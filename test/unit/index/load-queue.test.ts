import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  INDEX_LOADS_AT_ONCE,
  INDEX_TENANT_LOADS_MAX,
  INDEX_TENANT_LOADS_WAITING_MAX,
} from "../../../src/domain/limits.ts";
import { LoadQueue } from "../../../src/index/load-queue.ts";
import { advance, turns, useFakeClock } from "../../../support/fake-clock.ts";
import { SEED } from "../../../support/seed.ts";

useFakeClock();

/** Longer than any test. */
const LONG_MS = 600_000;

const settled = () => turns(1);

/** A queue whose loads end on command. */
class World {
  /** The tenant and key of each load that has begun, in this order. */
  readonly begun: string[] = [];
  readonly #running: Array<PromiseWithResolvers<boolean>> = [];
  readonly queue: LoadQueue;

  constructor(turnMs = LONG_MS) {
    this.queue = new LoadQueue(turnMs);
  }

  get running(): number {
    return this.#running.length;
  }

  ask(tenant: string, key: string, timeoutMs = LONG_MS): Promise<boolean | undefined> {
    const begin = (turnOf: string) => {
      this.begun.push(`${turnOf}:${key}`);
      const load = Promise.withResolvers<boolean>();
      this.#running.push(load);
      return load.promise;
    };
    return this.queue.wait(tenant, key, begin, timeoutMs);
  }

  askAll(tenant: string, count: number): Array<Promise<boolean | undefined>> {
    return Array.from({ length: count }, (_, i) => this.ask(tenant, `${tenant}${i}`));
  }

  async endOldest(found = true): Promise<void> {
    await settled();
    this.#running.shift()?.resolve(found);
    await settled();
  }

  async endAll(): Promise<void> {
    await settled();
    while (this.running > 0) await this.endOldest();
  }
}

describe("loads that requests wait for", () => {
  test("of a tenant wait for at most one load of each other tenant, whatever anybody asks for", async () => {
    const tenants = ["a", "b", "c", "d"];
    const step = fc.record({
      tenant: fc.constantFrom(...tenants),
      asks: fc.integer({ min: 0, max: 8 }),
      ends: fc.nat(4),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World();
      let number = 0;
      /** Loads that wait, by tenant, and how often each other tenant began one since it was first. */
      const waiting = new Map(tenants.map((tenant) => [tenant, [] as string[]]));
      const passed = new Map(tenants.map((tenant) => [tenant, new Map<string, number>()]));
      const check = async () => {
        await settled();
        for (const load of world.begun.splice(0)) {
          const turnOf = load.slice(0, 1);
          expect(waiting.get(turnOf)?.shift()).toBe(load);
          passed.get(turnOf)?.clear();
          for (const other of tenants) {
            if (other === turnOf || waiting.get(other)?.length === 0) continue;
            const counts = passed.get(other) as Map<string, number>;
            counts.set(turnOf, (counts.get(turnOf) ?? 0) + 1);
            expect(counts.get(turnOf)).toBe(1);
          }
        }
        const left = [...waiting.values()].flat().length;
        expect(world.running).toBeLessThanOrEqual(INDEX_LOADS_AT_ONCE);
        // No place is free while a load waits.
        if (left > 0) expect(world.running).toBe(INDEX_LOADS_AT_ONCE);
        expect(world.queue.length).toBe(left + world.running);
      };
      for (const { tenant, asks, ends } of steps) {
        for (let i = 0; i < asks; i++) {
          const key = String(number++);
          waiting.get(tenant)?.push(`${tenant}:${key}`);
          void world.ask(tenant, key);
          await check();
        }
        for (let i = 0; i < ends; i++) {
          await world.endOldest();
          await check();
        }
      }
      while (world.running > 0) {
        await world.endOldest();
        await check();
      }
      expect(world.queue.length).toBe(0);
    });
    await fc.assert(property, { seed: SEED, numRuns: 50 });
  });

  test("run once for all requests, which get the same result", async () => {
    const world = new World();
    const answers = [world.ask("a", "x"), world.ask("a", "x"), world.ask("b", "x")];
    await settled();
    expect(world.begun).toEqual(["a:x"]);
    await world.endOldest(false);
    expect(await Promise.all(answers)).toEqual([false, false, false]);
    void world.ask("b", "x");
    await settled();
    expect(world.begun).toEqual(["a:x", "b:x"]);
  });

  test("begin in the first turn of those who wait for them", async () => {
    const world = new World();
    world.askAll("a", INDEX_LOADS_AT_ONCE + 20);
    const shared = [world.ask("a", "shared"), world.ask("b", "shared")];
    await world.endOldest();
    await world.endOldest();
    expect(world.begun.at(-1)).toBe("b:shared");
    await world.endAll();
    expect(await Promise.all(shared)).toEqual([true, true]);
    expect(world.begun.filter((load) => load.endsWith("shared")).length).toBe(1);
  });

  test("do not begin when all their requests have given up, and make room for others", async () => {
    const world = new World();
    world.askAll("a", INDEX_LOADS_AT_ONCE);
    const late = [world.ask("a", "late", 1), world.ask("b", "late", 1), world.ask("b", "kept", 1)];
    const kept = world.ask("c", "kept");
    await advance(1);
    expect(await Promise.all(late)).toEqual([undefined, undefined, undefined]);
    expect(world.queue.length).toBe(INDEX_LOADS_AT_ONCE + 1);
    await world.endAll();
    expect(await kept).toBe(true);
    expect(world.begun.slice(INDEX_LOADS_AT_ONCE)).toEqual(["c:kept"]);
  });

  test("are refused beyond a number per tenant, and those of others are not", async () => {
    const world = new World();
    world.askAll("a", INDEX_TENANT_LOADS_MAX + INDEX_TENANT_LOADS_WAITING_MAX);
    await expect(world.ask("a", "one more")).rejects.toMatchObject({ slug: "overloaded" });
    const known = [world.ask("a", "a0"), world.ask("a", `a${INDEX_LOADS_AT_ONCE}`)];
    const other = world.ask("b", "b0");
    await world.endOldest();
    const next = world.ask("a", "one more");
    await world.endAll();
    expect(await Promise.all([...known, other, next])).toEqual([true, true, true, true]);
  });

  test("for which a tenant asks again and again count once, however often the requests give up", async () => {
    const world = new World();
    world.askAll("a", INDEX_TENANT_LOADS_MAX);
    for (let i = 0; i < INDEX_TENANT_LOADS_WAITING_MAX + 1; i++) {
      const late = world.ask("a", "late", 1);
      await advance(1);
      expect(await late).toBeUndefined();
    }
    const kept = world.ask("a", "late");
    await world.endAll();
    expect(await kept).toBe(true);
    expect(world.begun.filter((load) => load === "a:late").length).toBe(1);
    expect(world.queue.length).toBe(0);
  });

  test("are waited for by a bounded number of a tenant's requests, and by another's beside them", async () => {
    const queue = new LoadQueue(LONG_MS, 8);
    const load = Promise.withResolvers<boolean>();
    const ask = (tenant: string) => queue.wait(tenant, "x", () => load.promise, LONG_MS);
    const answers = Array.from({ length: 4 }, () => ask("a"));
    await expect(ask("a")).rejects.toMatchObject({ slug: "overloaded" });
    answers.push(ask("b"));
    load.resolve(true);
    expect(await Promise.all(answers)).toEqual(answers.map(() => true));
    expect(await ask("a")).toBe(true);
  });

  test("that take long delay the next for one turn only, and a tenant has a bounded number of them", async () => {
    const TURN_MS = 20;
    const world = new World(TURN_MS);
    world.askAll("a", INDEX_TENANT_LOADS_MAX + 5);
    await advance(TURN_MS - 1);
    expect(world.begun).toHaveLength(INDEX_LOADS_AT_ONCE);
    await advance(TURN_MS * INDEX_TENANT_LOADS_MAX);
    expect(world.begun).toHaveLength(INDEX_TENANT_LOADS_MAX);
    world.askAll("b", 2);
    await advance(TURN_MS * 2);
    expect(world.begun.slice(INDEX_TENANT_LOADS_MAX)).toEqual(["b:b0", "b:b1"]);
    await world.endOldest();
    await advance(TURN_MS);
    expect(world.begun.slice(INDEX_TENANT_LOADS_MAX + 2)).toEqual([`a:a${INDEX_TENANT_LOADS_MAX}`]);
  });

  test("that fail reject for their requests, and leave their places to others", async () => {
    const world = new World();
    const failing = Array.from({ length: INDEX_LOADS_AT_ONCE + 2 }, (_, i) =>
      world.queue.wait(`t${i}`, `k${i}`, () => Promise.reject(new Error("failed")), LONG_MS),
    );
    const results = await Promise.allSettled(failing);
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect(world.queue.length).toBe(0);
    const others = world.askAll("t0", INDEX_LOADS_AT_ONCE);
    await settled();
    expect(world.running).toBe(Math.min(INDEX_LOADS_AT_ONCE, INDEX_TENANT_LOADS_MAX));
    await world.endAll();
    expect(await Promise.all(others)).toEqual(others.map(() => true));
  });
});
