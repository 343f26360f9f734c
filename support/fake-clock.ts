import { afterEach, beforeEach, jest } from "bun:test";

/** Turns of the event loop after which everything has happened that needs no time to pass. */
const TURNS = 4;

/**
 * Stops the clock for each test of the file, or of the `describe` that calls this: timers, `Bun.sleep`,
 * `performance.now` and `Date.now` move by `advance` only. `performance.now` begins at 0.
 */
export function useFakeClock(): void {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
}

/** Lets what is due at this moment of the clock happen. */
export async function turns(count = TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves the fake clock by whole milliseconds. What follows from the timers of one happens before the next one. */
export async function advance(milliseconds: number): Promise<void> {
  await turns();
  for (let left = milliseconds; left > 0; ) {
    const step = jest.getTimerCount() === 0 ? left : 1;
    jest.advanceTimersByTime(step);
    left -= step;
    await turns();
  }
}
