import { describe, expect, test } from "bun:test";
import { TimedCache } from "../../../src/shared/timed-cache.ts";

const later = <T>() => Promise.withResolvers<T>();

describe("values remembered for a moment", () => {
  test("a second call is answered at once from the first one's value", async () => {
    const cache = new TimedCache<number>();
    expect(await cache.get("a", async () => 1)).toBe(1);
    expect(cache.get("a", async () => 2)).toBe(1);
  });

  test("calls for one key that come together share one load", async () => {
    const cache = new TimedCache<number>();
    let loads = 0;
    const load = async () => ++loads;
    const values = await Promise.all([cache.get("a", load), cache.get("a", load)]);
    expect(values).toEqual([1, 1]);
  });

  test("a value older than its time to live is read again before it is used", async () => {
    const cache = new TimedCache<number>(0, 0);
    await cache.get("a", async () => 1);
    await Bun.sleep(2);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("an ageing value is served while it is read again behind the call", async () => {
    const cache = new TimedCache<number>(60_000, 0);
    await cache.get("a", async () => 1);
    await Bun.sleep(2);
    expect(cache.get("a", async () => 2)).toBe(1);
    await Bun.sleep(2);
    expect(cache.get("a", async () => 3)).toBe(2);
  });

  test("what is dropped while it is being read is not remembered", async () => {
    const cache = new TimedCache<number>();
    const slow = later<number>();
    const first = cache.get("a", () => slow.promise);
    cache.drop("a");
    slow.resolve(1);
    expect(await first).toBe(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("a failed load is reported and not remembered", async () => {
    const cache = new TimedCache<number>();
    const failing = cache.get("a", async () => Promise.reject(new Error("away")));
    expect(Promise.resolve(failing)).rejects.toThrow("away");
    await Bun.sleep(1);
    expect(await cache.get("a", async () => 2)).toBe(2);
  });

  test("more entries than the bound push out the oldest", async () => {
    const cache = new TimedCache<number>(60_000, 60_000, 2);
    for (const [index, key] of ["a", "b", "c"].entries()) await cache.get(key, async () => index);
    expect(cache.get("c", async () => 9)).toBe(2);
    expect(await cache.get("a", async () => 9)).toBe(9);
  });
});
