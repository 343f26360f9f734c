import { expect, test } from "bun:test";
import { retryUntilSuccess } from "../../../src/ops/retry.ts";

const backoff = { firstMs: 1, longestMs: 2 };

test("work is retried until it succeeds, and only its first failure is reported", async () => {
  const failures = [new Error("first"), new TypeError("second"), new Error("third")];
  const reported: unknown[] = [];
  const work = async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return "done";
  };
  const result = await retryUntilSuccess(work, backoff, (error) => reported.push(error));
  expect(result).toBe("done");
  expect(reported).toEqual([new Error("first")]);
});
