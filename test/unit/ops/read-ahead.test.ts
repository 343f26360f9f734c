import { expect, test } from "bun:test";
import { readAhead } from "../../../src/ops/read-ahead.ts";
import { turns } from "../../../support/fake-clock.ts";

/** Counts from 1, and notes what was asked for; 0 when it was closed. */
async function* counting(asked: number[], fail?: number) {
  try {
    for (let i = 1; i <= 4; i++) {
      asked.push(i);
      if (i === fail) throw new Error("broken");
      yield i;
    }
  } finally {
    asked.push(0);
  }
}

test("every item comes once and in order, and its successor is asked for meanwhile", async () => {
  const asked: number[] = [];
  const seen: number[] = [];
  for await (const item of readAhead(counting(asked))) {
    await turns();
    if (item < 4) expect(asked).toContain(item + 1);
    seen.push(item);
  }
  expect(seen).toEqual([1, 2, 3, 4]);
});

test("a failure comes after the items before it, and leaving the loop closes the source", async () => {
  const seen: number[] = [];
  const read = async () => {
    for await (const item of readAhead(counting([], 3))) seen.push(item);
  };
  await expect(read()).rejects.toThrow("broken");
  expect(seen).toEqual([1, 2]);
  const asked: number[] = [];
  for await (const _ of readAhead(counting(asked))) break;
  expect(asked).toContain(0);
});
