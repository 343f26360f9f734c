import { describe, expect, test } from "bun:test";
import { Breaker, CircuitOpen } from "../../../src/ops/breaker.ts";

const PAUSE_MS = 100;
const AWAY = new Error("away");

/** A breaker over a dependency that can be away, with a clock of its own. */
function broken(options: Partial<ConstructorParameters<typeof Breaker>[0]> = {}) {
  const state = { now: 0, isAway: true, calls: 0, changes: [] as unknown[] };
  const breaker = new Breaker({
    pauseMs: PAUSE_MS,
    now: () => state.now,
    onChange: (...change) => state.changes.push(change),
    ...options,
  });
  const call = () =>
    breaker
      .call(async () => {
        state.calls++;
        if (state.isAway) throw AWAY;
      })
      .then(
        () => "answer",
        (error) => (error instanceof CircuitOpen ? "refused" : "failure"),
      );
  return { state, breaker, call };
}

describe("a circuit breaker", () => {
  test("opens at a failure, and refuses without a call until the pause is over", async () => {
    const { state, breaker, call } = broken();
    expect(await call()).toBe("failure");
    expect(breaker.isOpen).toBe(true);
    state.now = PAUSE_MS - 1;
    expect(await call()).toBe("refused");
    expect(state.calls).toBe(1);
    state.now = PAUSE_MS;
    expect(await call()).toBe("failure");
    expect(await call()).toBe("refused");
    expect(state.calls).toBe(2);
  });

  test("closes when a trial succeeds, and tells of each change once", async () => {
    const { state, call } = broken();
    await call();
    state.now += PAUSE_MS;
    await call();
    state.isAway = false;
    state.now += PAUSE_MS;
    expect([await call(), await call()]).toEqual(["answer", "answer"]);
    expect(state.changes).toEqual([[true, AWAY], [false]]);
  });

  test("makes one trial at a time", async () => {
    const { state, breaker, call } = broken();
    await call();
    state.now += PAUSE_MS;
    const trial = Promise.withResolvers<void>();
    const trying = breaker.call(() => trial.promise);
    expect(await call()).toBe("refused");
    trial.resolve();
    await trying;
    state.isAway = false;
    expect(await call()).toBe("answer");
  });

  test("stays open when a call succeeds that was made before the failure", async () => {
    const { breaker, call } = broken();
    const slow = Promise.withResolvers<void>();
    const early = breaker.call(() => slow.promise);
    await call();
    slow.resolve();
    await early;
    expect(breaker.isOpen).toBe(true);
  });

  test("does not count errors that are no fault of the dependency", async () => {
    const { state, breaker, call } = broken();
    const refuse = () =>
      breaker.call(
        () => Promise.reject(AWAY),
        () => false,
      );
    await expect(refuse()).rejects.toThrow(AWAY);
    expect(breaker.isOpen).toBe(false);
    await call();
    state.now += PAUSE_MS;
    await expect(refuse()).rejects.toThrow(AWAY);
    // Such a trial has no outcome, so there is another one at once.
    state.isAway = false;
    expect(await call()).toBe("answer");
  });

  test("may pause longer after each failure, and begins anew after a success", async () => {
    const causes: unknown[] = [];
    const pauseMs = (failures: number, cause: unknown) => {
      causes.push(cause);
      return PAUSE_MS * failures;
    };
    const { state, call } = broken({ pauseMs });
    for (const failures of [1, 2, 3]) {
      expect(await call()).toBe("failure");
      state.now += PAUSE_MS * failures - 1;
      expect(await call()).toBe("refused");
      state.now++;
    }
    expect(causes).toEqual([AWAY, AWAY, AWAY]);
    state.isAway = false;
    await call();
    state.isAway = true;
    await call();
    state.now += PAUSE_MS;
    expect(await call()).toBe("failure");
  });

  test("with patience opens only after failures of that length", async () => {
    const { state, breaker, call } = broken({ patienceMs: 250 });
    for (const now of [0, 100, 249]) {
      state.now = now;
      expect(await call()).toBe("failure");
      expect([breaker.isOpen, breaker.isFailing, breaker.isResting]).toEqual([false, true, true]);
    }
    breaker.close();
    state.now = 300;
    expect(await call()).toBe("failure");
    expect(breaker.isOpen).toBe(false);
    state.now = 550;
    expect(await call()).toBe("failure");
    expect(breaker.isOpen).toBe(true);
  });

  test("whose clock is set back makes a trial", async () => {
    const { state, call } = broken();
    state.now = 1_000_000;
    await call();
    state.now = 0;
    expect(await call()).toBe("failure");
  });

  test("is closed by hand when the dependency is known to answer", async () => {
    const { state, breaker, call } = broken();
    await call();
    breaker.close();
    state.isAway = false;
    expect(await call()).toBe("answer");
    expect(state.changes).toEqual([[true, AWAY], [false]]);
  });
});
