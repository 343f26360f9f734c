import { expect, test } from "bun:test";
import { LogLimiter } from "../../../../src/ops/observability/log-limiter.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

test("one reason is written once per interval, with the number that was left out; others are not held back", async () => {
  const limiter = new LogLimiter(50);
  const written: string[] = [];
  const log = (reason: string) => limiter.limited(reason, (n) => written.push(`${reason} ${n}`));
  for (let i = 0; i < 4; i++) log("disk full");
  log("away");
  await advance(49);
  log("disk full");
  expect(written).toEqual(["disk full 0", "away 0"]);
  await advance(1);
  log("disk full");
  expect(written).toEqual(["disk full 0", "away 0", "disk full 4"]);
});
