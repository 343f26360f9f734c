import { test } from "bun:test";
import { FAILPOINTS } from "../../../src/ops/failpoints.ts";
import { needs } from "../../../support/programs.ts";
import { answerKilledAt, deliveryKilledAt } from "../../faults/delivery-crashes.ts";

needs("redis-server");

test.each(FAILPOINTS.filter((point) => point.startsWith("delivery.")))(
  "a delivery killed at %s is stored completely or not at all, and a retry leaves one event",
  deliveryKilledAt,
);

test.each(FAILPOINTS.filter((point) => point.startsWith("answer.")))(
  "an answer killed at %s is stored completely or not at all, and a retry leaves one answer",
  answerKilledAt,
);
