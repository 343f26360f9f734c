import { describe, expect, test } from "bun:test";
import { expired } from "../../../../src/db/coordination/memory.ts";

/** Entries that expire at these times, and how often one of them was looked at. */
function entriesOf(times: readonly number[]) {
  const looks = { count: 0 };
  const entryOf = (at: number) => ({
    get until() {
      looks.count++;
      return at;
    },
  });
  return { entries: new Map(times.map((at, i) => [`${i}`, entryOf(at)])), looks };
}

describe("expired entries", () => {
  test("are those before the first one that has not expired", () => {
    const { entries } = entriesOf([1, 2, 3, 9, 2]);
    expect([...expired(entries, 3)]).toEqual(["0", "1", "2"]);
  });

  test("are found without looking at all that have not expired", () => {
    const { entries, looks } = entriesOf([1, 2, ...Array.from({ length: 1_000 }, () => 9)]);
    expect([...expired(entries, 3)]).toHaveLength(2);
    expect(looks.count).toBe(3);
  });

  test("may be deleted while they are listed", () => {
    const { entries } = entriesOf([1, 2, 3, 9]);
    for (const key of expired(entries, 3)) entries.delete(key);
    expect([...entries.keys()]).toEqual(["3"]);
  });
});
