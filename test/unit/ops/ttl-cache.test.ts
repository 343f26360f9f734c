import { describe, expect, test } from "bun:test";
import { TtlCache } from "../../../src/ops/ttl-cache.ts";
import { advance, turns, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

const later = <T>() => Promise.withResolvers<T>();

describe("TtlCache", () => {
  test("a second call returns the cached value synchronously", async () => {
    const cache = new TtlCache<number>();
    expect(await cache.get("a", async () => 1)).toBe(1);
    expect(cache.get("a", async () => 2)).toBe(1);
  });

  test("concurrent calls for one key share one load", async () => {
    const cache = new TtlCache<number>();
    let loads = 0;
    const load = async () => ++loads;
    const values = await Promise.all([cache.get("a", load), cache.get("a", load)]);
    expect(values).toEqual([1, 1]);
  });

  test("an expired value is loaded again before it is returned", async () => {
    const cache = new TtlCache<number>({ ttlMs: 500, refreshMs: 500 });
    await cache.get("a", async () => 1);
    await advance(500);
    expect(cache.get("a", async () => 2)).toBe(1);
    await advance(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("an ageing value is returned while it is loaded again in the background", async () => {
    const cache = new TtlCache<number>({ ttlMs: 60_000, refreshMs: 500 });
    await cache.get("a", async () => 1);
    await advance(501);
    expect(cache.get("a", async () => 2)).toBe(1);
    await turns();
    expect(cache.get("a", async () => 3)).toBe(2);
  });

  test("a load that takes longer than entries live is neither shared nor replaces a newer one", async () => {
    const cache = new TtlCache<number>({ ttlMs: 800, refreshMs: 800 });
    const slow = later<number>();
    const first = cache.get("a", () => slow.promise);
    await advance(800);
    expect(cache.get("a", async () => 2)).toBe(first);
    await advance(1);
    expect(await cache.get("a", async () => 3)).toBe(3);
    slow.resolve(1);
    expect(await first).toBe(1);
    expect(cache.get("a", async () => 4)).toBe(3);
  });

  test("after it has expired, every value is loaded again, and used while that fails in an outage", async () => {
    const outage = new Error("no answer");
    const cache = new TtlCache<number>({ graceMs: 300, isOutage: (error) => error === outage });
    await cache.get("a", async () => 1);
    const slow = later<number>();
    const loading = cache.get("b", () => slow.promise);
    cache.expire();
    slow.resolve(1);
    await loading;
    expect(await cache.get("b", async () => 2)).toBe(2);
    const fails = () => cache.get("a", () => Promise.reject(outage));
    expect(await fails()).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
    cache.expire();
    await advance(301);
    await expect(fails()).rejects.toBe(outage);
  });

  test("a key that is dropped while it loads is not cached", async () => {
    const cache = new TtlCache<number>();
    const slow = later<number>();
    const first = cache.get("a", () => slow.promise);
    cache.drop("a");
    slow.resolve(1);
    expect(await first).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("a caller who asks after a drop or a clear does not get what was being loaded before", async () => {
    const cache = new TtlCache<string>();
    for (const forget of [() => cache.drop("a"), () => cache.clear()]) {
      const slow = later<string>();
      const first = cache.get("a", () => slow.promise);
      forget();
      const second = cache.get("a", async () => "new");
      slow.resolve("old");
      expect(await Promise.all([first, second])).toEqual(["old", "new"]);
      expect(cache.get("a", async () => "newer")).toBe("new");
      cache.clear();
    }
  });

  test("a failed load is reported and not cached", async () => {
    const cache = new TtlCache<number>();
    const failing = cache.get("a", async () => Promise.reject(new Error("away")));
    await expect(Promise.resolve(failing)).rejects.toThrow("away");
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  const isOutage = (error: unknown) => (error as Error).message === "away";
  const away = async () => Promise.reject(new Error("away"));

  test("during an outage an expired value is used within the grace time only", async () => {
    const cache = new TtlCache<number>({ ttlMs: 0, refreshMs: 0, graceMs: 300, isOutage });
    await cache.get("a", async () => 1);
    await advance(1);
    expect(await cache.get("a", away)).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
    await advance(300);
    expect(await cache.get("a", away)).toBe(2);
    await advance(1);
    await expect(Promise.resolve(cache.get("a", away))).rejects.toThrow("away");
  });

  test("during an outage no value is used that was dropped, nor after another failure", async () => {
    const cache = new TtlCache<number>({ ttlMs: 0, refreshMs: 0, isOutage });
    await cache.get("a", async () => 1);
    await advance(1);
    const broken = cache.get("a", async () => Promise.reject(new Error("broken")));
    await expect(Promise.resolve(broken)).rejects.toThrow("broken");
    const failing = later<number>();
    const loading = Promise.resolve(cache.get("a", () => failing.promise));
    cache.drop("a");
    failing.reject(new Error("away"));
    await expect(loading).rejects.toThrow("away");
  });

  test("beyond the maximum number of entries the oldest is removed", async () => {
    const cache = new TtlCache<number>({ ttlMs: 60_000, refreshMs: 60_000, maxEntries: 2 });
    for (const [index, key] of ["a", "b", "c"].entries()) await cache.get(key, async () => index);
    expect(cache.get("c", async () => 9)).toBe(2);
    expect(await cache.get("a", async () => 9)).toBe(9);
  });
});
