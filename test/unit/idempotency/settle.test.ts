import { describe, expect, test } from "bun:test";
import { settle } from "../../../src/idempotency/settle.ts";
import { Problem } from "../../../src/problem/problem.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });
const unknown = (cause: unknown) => new Problem("idempotency-conflict", { cause });
const options = { unknown, attemptTimeoutMs: 60, settleTimeoutMs: 200 };

/** Attempts that end one after the other in these ways, the last one for ever. */
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
  test("is run again until it tells what became of it", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"), "stored");
    expect(await settle(attempt, options)).toBe("stored");
    expect(attempt.count()).toBe(3);
  });

  test("has an unknown outcome when the database stays away", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"));
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("has an unknown outcome when the second one is not answered", async () => {
    const attempt = attempts(failure("57P01"), "never");
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("has an unknown outcome when asking fails for another reason", async () => {
    const attempt = attempts(failure("ECONNRESET"), failure("57014"));
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
  });

  test("fails as it is when it certainly never ran", async () => {
    for (const code of ["ECONNREFUSED", "CONNECT_TIMEOUT", "57P03"]) {
      const attempt = attempts(failure(code), "stored");
      expect(await slugOf(settle(attempt, options))).toBe(code);
      expect(attempt.count()).toBe(1);
    }
  });
});

describe("an attempt over a sound connection", () => {
  test("has an unknown outcome when it is never answered", async () => {
    const attempt = attempts("never");
    expect(await slugOf(settle(attempt, options))).toBe("idempotency-conflict");
    expect(attempt.count()).toBe(1);
  });

  test("is run again after a deadlock, and not for ever", async () => {
    expect(await settle(attempts(failure("40P01"), "stored"), options)).toBe("stored");
    expect(await slugOf(settle(attempts(failure("40001")), options))).toBe("40001");
  });

  test("fails as it is for any other error, problems included", async () => {
    expect(await slugOf(settle(attempts(failure("42P01")), options))).toBe("42P01");
    const closed = new Problem("input-request-closed");
    expect(await slugOf(settle(attempts(closed), options))).toBe("input-request-closed");
  });
});
