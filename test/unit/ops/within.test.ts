import { expect, test } from "bun:test";
import { within } from "../../../src/ops/within.ts";
import { advance, turns, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

const untilEnded = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    if (signal.aborted) resolve("ended");
    signal.addEventListener("abort", () => resolve("ended"));
  });

test("the signal of work ends after the time, with the caller, or not at all", async () => {
  const late = within(100, untilEnded);
  let isLate = true;
  void late.then(() => {
    isLate = false;
  });
  await advance(99);
  expect(isLate).toBe(true);
  await advance(1);
  expect(await late).toBe("ended");
  const caller = new AbortController();
  const left = within(100, untilEnded, caller.signal);
  await turns();
  caller.abort();
  expect(await left).toBe("ended");
  expect(await within(100, untilEnded, caller.signal)).toBe("ended");
  const done = within(100, async (signal) => signal);
  const signal = await done;
  await advance(200);
  expect(signal.aborted).toBe(false);
});
