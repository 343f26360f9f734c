import { describe, expect, test } from "bun:test";
import { TimedCache } from "../../../src/shared/timed-cache.ts";

const later = <T>() => Promise.withResolvers<T>();

describe("TimedCache", () => {
  test("a second call returns the cached value synchronously", async () => {
    const cache = new TimedCache<number>();
    expect(await cache.get("a", async () => 1)).toBe(1);
    expect(cache.get("a", async () => 2)).toBe(1);
  });

  test("concurrent calls for one key share one load", async () => {
    const cache = new TimedCache<number>();
    let loads = 0;
    const load = async () => ++loads;
    const values = await Promise.all([cache.get("a", load), cache.get("a", load)]);
    expect(values).toEqual([1, 1]);
  });

  test("an expired value is loaded again before it is returned", async () => {
    const cache = new TimedCache<number>(0, 0);
    await cache.get("a", async () => 1);
    await Bun.sleep(2);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("an ageing value is returned while it is loaded again in the background", async () => {
    const cache = new TimedCache<number>(60_000, 0);
    await cache.get("a", async () => 1);
    await Bun.sleep(2);
    expect(cache.get("a", async () => 2)).toBe(1);
    await Bun.sleep(2);
    expect(cache.get("a", async () => 3)).toBe(2);
  });

  test("a key that is dropped while it loads is not cached", async () => {
    const cache = new TimedCache<number>();
    const slow = later<number>();
    const first = cache.get("a", () => slow.promise);
    cache.drop("a");
    slow.resolve(1);
    expect(await first).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("a failed load is reported and not cached", async () => {
    const cache = new TimedCache<number>();
    const failing = cache.get("a", async () => Promise.reject(new Error("away")));
    expect(Promise.resolve(failing)).rejects.toThrow("away");
    await Bun.sleep(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("beyond the maximum number of entries the oldest is removed", async () => {
    const cache = new TimedCache<number>(60_000, 60_000, 2);
    for (const [index, key] of ["a", "b", "c"].entries()) await cache.get(key, async () => index);
    expect(cache.get("c", async () => 9)).toBe(2);
    expect(await cache.get("a", async () => 9)).toBe(9);
  });
});
