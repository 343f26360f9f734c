import { describe, expect, test } from "bun:test";
import { resolveOutcome } from "../../../../src/db/idempotency/resolve-outcome.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

const ATTEMPT_MS = 1_000;
const OUTCOME_MS = 200;
const TICK_MS = 10;

const failure = (code: string) => Object.assign(new Error(code), { code });
const unknown = (cause: unknown) => new Problem("idempotency-conflict", { cause });

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

/** The result after some time, or the slug or code of the error. */
async function outcomeOf(attempt: () => Promise<string>, withinMs = OUTCOME_MS + TICK_MS) {
  let outcome = "still running";
  resolveOutcome(attempt, {
    unknown,
    attemptTimeoutMs: ATTEMPT_MS,
    outcomeTimeoutMs: OUTCOME_MS,
  }).then(
    (result) => {
      outcome = result;
    },
    (error) => {
      outcome = error instanceof Problem ? error.slug : error.code;
    },
  );
  await advance(withinMs);
  return outcome;
}

describe("an attempt whose connection breaks", () => {
  test("an attempt whose connection breaks is run again until its outcome is known", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"), "stored");
    expect(await outcomeOf(attempt)).toBe("stored");
    expect(attempt.count()).toBe(3);
  });

  test("the outcome is unknown when the database stays unavailable", async () => {
    const attempt = attempts(failure("CONNECTION_CLOSED"), failure("ECONNREFUSED"));
    expect(await outcomeOf(attempt)).toBe("idempotency-conflict");
  });

  test("the outcome is unknown when the second attempt is not answered in what is left of the time", async () => {
    const attempt = attempts(failure("57P01"), "never");
    expect(await outcomeOf(attempt, OUTCOME_MS - 2 * TICK_MS)).toBe("still running");
    expect(await outcomeOf(attempts(failure("57P01"), "never"))).toBe("idempotency-conflict");
  });

  test("the outcome is unknown when the second attempt fails for another reason", async () => {
    for (const reason of [failure("57014"), new TypeError("broken")]) {
      const attempt = attempts(failure("ECONNRESET"), reason);
      expect(await outcomeOf(attempt)).toBe("idempotency-conflict");
    }
  });

  test("an attempt that certainly never ran fails with its own error", async () => {
    for (const code of ["ECONNREFUSED", "CONNECT_TIMEOUT", "57P03"]) {
      const attempt = attempts(failure(code), "stored");
      expect(await outcomeOf(attempt)).toBe(code);
      expect(attempt.count()).toBe(1);
    }
  });
});

describe("an attempt over a working connection", () => {
  test("the outcome is unknown when an attempt is not answered in its time", async () => {
    const attempt = attempts("never");
    expect(await outcomeOf(attempt, ATTEMPT_MS - 2 * TICK_MS)).toBe("still running");
    expect(await outcomeOf(attempts("never"), ATTEMPT_MS)).toBe("idempotency-conflict");
    expect(attempt.count()).toBe(1);
  });

  test("an attempt is run again after a deadlock, but not forever", async () => {
    expect(await outcomeOf(attempts(failure("40P01"), "stored"))).toBe("stored");
    const attempt = attempts(failure("40001"));
    expect(await outcomeOf(attempt, 1_000)).toBe("40001");
    expect(attempt.count()).toBe(4);
  });

  test("any other error is thrown unchanged, problems included", async () => {
    expect(await outcomeOf(attempts(failure("42P01")))).toBe("42P01");
    expect(await outcomeOf(attempts(new Problem("input-request-closed") as Error))).toBe(
      "input-request-closed",
    );
  });
});
