import { expect, test } from "bun:test";
import { Resources } from "../../../src/ops/lifecycle.ts";
import { advance, useFakeClock } from "../../../support/fake-clock.ts";

useFakeClock();

const BUDGET_MS = 100;

test("resources close in reverse order, and those that fail or hang keep no other from closing", async () => {
  const resources = new Resources();
  const closed: string[] = [];
  const reported: string[] = [];
  resources.push("first", () => closed.push("first"));
  resources.push("hanging", () => new Promise(() => {}));
  resources.push("failing", () => {
    throw new Error("it fails");
  });
  resources.push("hanging too", () => new Promise(() => {}));
  resources.push("last", async () => {
    await Bun.sleep(BUDGET_MS / 2);
    closed.push("last");
  });
  const closing = resources.close(BUDGET_MS, (name) => reported.push(name));
  await advance(3 * BUDGET_MS);
  await closing;
  expect(closed).toEqual(["last", "first"]);
  expect(reported).toEqual(["hanging too", "failing", "hanging"]);
});
