import { describe, expect, test } from "bun:test";
import { settle } from "../../../src/idempotency/settle.ts";
import { Problem } from "../../../src/problem/problem.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });
const unknown = (cause: unknown) => new Problem("idempotency-conflict", { cause });
const options = { unknown, attemptTimeoutMs: 60, settleTimeoutMs: 200 };

/** An attempt that ends in these ways one after the other, and then always in the last one. */
function attempts(...ends: (Error | string | "never")[]) {
  let count = 0;
  const attempt = async () => {
    const end = ends[Math.min(count++, ends.length - 1)] as Error | string;
    if (end === "never") await new Promise(() => {});
    if (end instanceof Error) throw end;
    return end;
  };
  return Object.assign(attempt, { count: () => count });
}

const slugOf = (settled: Promise<unknown>) =>
  settled.then(
    () => undefined,
    (error) => (error instanceof Problem ? error.slug : error.code),
  );

describe("an attempt whose connection breaks", () => {
  test("an attempt whose connection breaks is run again until its outcome is known", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"), "stored");
    expect(await settle(attempt, options)).toBe("stored");
    expect(attempt.count()).toBe(3);
  });

  test("the outcome is unknown when the database stays unavailable", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"));
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("the outcome is unknown when the second attempt is not answered", async () => {
    const attempt = attempts(failure("57P01"), "never");
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("the outcome is unknown when the second attempt fails for another reason", async () => {
    const attempt = attempts(failure("ECONNRESET"), failure("57014"));
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("an attempt that certainly never ran fails with its own error", async () => {
    for (const code of ["ECONNREFUSED", "CONNECT_TIMEOUT", "57P03"]) {
      const attempt = attempts(failure(code), "stored");
      expect(await slugOf(settle(attempt, options))).toBe(code);
      expect(attempt.count()).toBe(1);
    }
  });
});

describe("an attempt over a working connection", () => {
  test("the outcome is unknown when an attempt is never answered", async () => {
    const attempt = attempts("never");
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
    expect(attempt.count()).toBe(1);
  });

  test("an attempt is run again after a deadlock, but not forever", async () => {
    expect(await settle(attempts(failure("40P01"), "stored"), options)).toBe("stored");
    expect(await slugOf(settle(attempts(failure("40001")), options))).toBe("40001");
  });

  test("any other error is thrown unchanged, problems included", async () => {
    expect(await slugOf(settle(attempts(failure("42P01")), options))).toBe("42P01");
    const closed = new Problem("input-request-closed");
    expect(await slugOf(settle(attempts(closed), options))).toBe("input-request-closed");
  });
});
