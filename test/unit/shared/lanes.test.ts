import { expect, test } from "bun:test";
import { Lanes } from "../../../src/shared/lanes.ts";
import { turns } from "../../../support/fake-clock.ts";

test("tasks run in order, at most as many at once as there are lanes", async () => {
  const lanes = new Lanes(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  for (let i = 0; i < 10; i++) {
    await lanes.start(async () => {
      started.push(i);
      most = Math.max(most, ++running);
      await turns(i % 3);
      running--;
    });
  }
  await lanes.settled();
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect([most, running]).toEqual([2, 0]);
});

test("a failure is thrown once, after the tasks beside it have ended", async () => {
  const lanes = new Lanes(2);
  let ended = false;
  await lanes.start(() => Promise.reject(new Error("broken")));
  await lanes.start(async () => {
    await turns();
    ended = true;
  });
  await expect(lanes.start(async () => expect.unreachable())).rejects.toThrow("broken");
  expect(ended).toBe(true);
  await lanes.settled();
});
