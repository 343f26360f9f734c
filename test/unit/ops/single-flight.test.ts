import { expect, test } from "bun:test";
import { SingleFlight } from "../../../src/ops/single-flight.ts";
import { advance, turns, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

test("those who ask before a run begins share it, and those who ask later share the next", async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const work = new SingleFlight(async () => {
    const run = ++runs;
    await gate.promise;
    return run;
  });
  const first = [work.run(), work.run()];
  await turns();
  expect(runs).toBe(1);
  const second = [work.run(), work.run()];
  gate.resolve();
  expect(await Promise.all([...first, ...second])).toEqual([1, 1, 2, 2]);
  expect(runs).toBe(2);
});

test("however many ask, the work takes a tenth of the time", async () => {
  const RUN_MS = 5;
  const begunAt: number[] = [];
  const work = new SingleFlight(async () => {
    begunAt.push(performance.now());
    await Bun.sleep(RUN_MS);
  });
  const ask = async () => {
    while (performance.now() < 500) await work.run();
  };
  const asking = [ask(), ask(), ask()];
  await advance(500 + RUN_MS);
  await Promise.all(asking);
  expect(begunAt).toEqual([0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
});

test("work that fails is reported to those who share it, and the next run is not affected", async () => {
  let fails = true;
  const work = new SingleFlight(async () => {
    if (fails) throw new Error("away");
    return "here";
  });
  const asked = [work.run(), work.run()];
  await Promise.all(asked.map((answer) => expect(answer).rejects.toThrow("away")));
  fails = false;
  expect(await work.run()).toBe("here");
});
