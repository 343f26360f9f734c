import { expect, test } from "bun:test";
import { createFailpoints } from "../../src/shared/failpoints.ts";
import { needs } from "../../support/programs.ts";
import { answerKilledAt, deliveryKilledAt } from "./delivery-crashes.ts";

needs("redis-server");

// test/long/faults has all moments. These are right before and right after the commit.
test.each(["delivery.leased", "delivery.committed"] as const)(
  "a delivery killed at %s is stored completely or not at all, and a retry leaves one event",
  deliveryKilledAt,
);

test.each(["answer.written", "answer.committed"] as const)(
  "an answer killed at %s is stored completely or not at all, and a retry leaves one answer",
  answerKilledAt,
);

test("an unknown failpoint prevents the service from starting", () => {
  expect(() => createFailpoints(["delivery.imagined"])).toThrow("delivery.imagined");
});
