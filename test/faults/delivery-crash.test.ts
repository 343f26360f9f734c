import { expect, test } from "bun:test";
import { createFailpoints } from "../../src/ops/failpoints.ts";
import { needs } from "../../support/programs.ts";
import { answerKilledAt, deliveryKilledAt } from "./delivery-crashes.ts";

needs("redis-server");

// test/long/faults has all moments. This one is right after the commit.
test("a delivery killed before its answer is stored, and a retry leaves one event", () =>
  deliveryKilledAt("delivery.committed"));

test("an answer killed before its own answer is stored, and a retry leaves one answer", () =>
  answerKilledAt("answer.committed"));

test("an unknown failpoint prevents the service from starting", () => {
  expect(() => createFailpoints(["delivery.imagined"])).toThrow("delivery.imagined");
});
