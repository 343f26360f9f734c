import { expect, test } from "bun:test";
import { SharedWork } from "../../../src/shared/shared-work.ts";

test("those who ask before a run begins share it, and those who ask later share the next", async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const work = new SharedWork(async () => {
    const run = ++runs;
    await gate.promise;
    return run;
  });
  const first = [work.run(), work.run()];
  while (runs === 0) await Bun.sleep(1);
  const second = [work.run(), work.run()];
  gate.resolve();
  expect(await Promise.all([...first, ...second])).toEqual([1, 1, 2, 2]);
  expect(runs).toBe(2);
});

test("however many ask, the work takes a tenth of the time", async () => {
  const RUN_MS = 5;
  let runs = 0;
  const work = new SharedWork(async () => {
    runs++;
    await Bun.sleep(RUN_MS);
  });
  const startedAt = performance.now();
  while (performance.now() - startedAt < 500) await work.run();
  // The rest of the last run has not passed yet.
  expect((runs - 1) * RUN_MS).toBeLessThanOrEqual((performance.now() - startedAt) / 9);
});

test("work that fails is reported to those who share it, and the next run is not affected", async () => {
  let fails = true;
  const work = new SharedWork(async () => {
    if (fails) throw new Error("away");
    return "here";
  });
  const asked = [work.run(), work.run()];
  for (const answer of asked) expect(answer).rejects.toThrow("away");
  await Promise.allSettled(asked);
  fails = false;
  expect(await work.run()).toBe("here");
});
