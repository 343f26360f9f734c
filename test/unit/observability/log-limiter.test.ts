import { expect, test } from "bun:test";
import { LogLimiter } from "../../../src/observability/log-limiter.ts";

test("one reason is written once per interval, with the number that was left out; others are not held back", async () => {
  const limiter = new LogLimiter(50);
  const written: string[] = [];
  const log = (reason: string) => limiter.limited(reason, (n) => written.push(`${reason} ${n}`));
  for (let i = 0; i < 5; i++) log("disk full");
  log("away");
  await Bun.sleep(60);
  log("disk full");
  expect(written).toEqual(["disk full 0", "away 0", "disk full 4"]);
});
