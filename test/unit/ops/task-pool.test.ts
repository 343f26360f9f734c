import { expect, test } from "bun:test";
import { TaskPool } from "../../../src/ops/task-pool.ts";
import { turns } from "../../../support/fake-clock.ts";

test("tasks run in order, at most as many at once as the pool allows", async () => {
  const pool = new TaskPool(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  for (let i = 0; i < 10; i++) {
    await pool.start(async () => {
      started.push(i);
      most = Math.max(most, ++running);
      await turns(i % 3);
      running--;
    });
  }
  await pool.settled();
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect([most, running]).toEqual([2, 0]);
});

test("a failure is thrown once, after the other tasks have ended", async () => {
  const pool = new TaskPool(2);
  let ended = false;
  await pool.start(() => Promise.reject(new Error("broken")));
  await pool.start(async () => {
    await turns();
    ended = true;
  });
  await expect(pool.start(async () => expect.unreachable())).rejects.toThrow("broken");
  expect(ended).toBe(true);
  await pool.settled();
});
