import { describe, expect, test } from "bun:test";
import { Random } from "../../../support/random.ts";
import { SEED, seedNotice } from "../../../support/seed.ts";
import { isLinearizable, type Operation, printed, shrunk } from "./linearizable.ts";

const REGISTER = { initial: 0, key: String };
const NEVER = Number.POSITIVE_INFINITY;

type Step = Operation<number>;

const write = (called: number, answered: number, value: number): Step => ({
  called,
  answered,
  isRead: false,
  text: `write ${value}`,
  explains: () => true,
  effect: () => value,
});
const read = (called: number, answered: number, value: number, after?: Step): Step => ({
  called,
  answered,
  isRead: true,
  text: `read ${value}`,
  ...(after ? { after } : {}),
  explains: (state) => state === value,
  effect: (state) => state,
});
/** Writes only over an expected value; the answer says whether it did. */
const swap = (
  called: number,
  answered: number,
  from: number,
  to: number,
  passed: boolean,
): Step => ({
  called,
  answered,
  isRead: !passed,
  text: `swap ${from} ${to}: ${passed}`,
  explains: (state) => (state === from) === passed,
  effect: (state) => (state === from ? to : state),
});

const first = write(0, 1, 1);

const LINEARIZABLE: Readonly<Record<string, readonly Step[]>> = {
  "one after the other": [write(0, 1, 1), read(2, 3, 1), write(4, 5, 2), read(6, 7, 2)],
  "a read beside a write sees the old value": [write(0, 1, 1), write(2, 5, 2), read(3, 4, 1)],
  "a read beside a write sees the new value": [write(0, 1, 1), write(2, 5, 2), read(3, 4, 2)],
  "reads beside a write see the old value, then the new one": [
    ...[write(0, 9, 1), read(1, 2, 0), read(3, 4, 1)],
  ],
  "of two swaps at once one passes": [
    swap(0, 3, 0, 1, true),
    swap(1, 2, 0, 2, false),
    read(4, 5, 1),
  ],
  "a write without an answer takes effect much later": [
    ...[write(0, NEVER, 1), read(5, 6, 0), read(7, 8, 1)],
  ],
  "a write without an answer never takes effect": [write(0, NEVER, 1), read(5, 6, 0)],
  "an older view that contains the change it names": [
    ...[first, write(2, 3, 2), read(0, 5, 1, first)],
  ],
};

const IMPOSSIBLE: Readonly<Record<string, readonly Step[]>> = {
  "a read after a write sees the old value": [write(0, 1, 1), read(2, 3, 0)],
  "reads see the new value, then the old one": [write(0, 9, 1), read(1, 2, 1), read(3, 4, 0)],
  "two swaps from the same value pass": [swap(0, 3, 0, 1, true), swap(1, 2, 0, 2, true)],
  "a swap is refused although nobody has changed the value": [swap(0, 1, 0, 1, false)],
  "a value appears that nobody has written": [read(0, 1, 7)],
  "a value that was overwritten comes back": [
    ...[write(0, 1, 1), write(2, 3, 2), read(4, 5, 2), read(6, 7, 1)],
  ],
  "two readers disagree about the order of two writes": [
    ...[write(0, 9, 1), write(0, 9, 2), read(1, 2, 1), read(3, 4, 2), read(5, 6, 1)],
  ],
  "a write without an answer is undone": [write(0, NEVER, 1), read(1, 2, 1), read(3, 4, 0)],
  "a view without the change it names": [write(-2, -1, 3), first, read(0, 5, 3, first)],
};

describe("a history of one object", () => {
  test.each(Object.entries(LINEARIZABLE))("is possible: %s", (_, history) => {
    expect(isLinearizable(history, REGISTER)).toBe(true);
  });

  test.each(Object.entries(IMPOSSIBLE))("is impossible: %s", (_, history) => {
    expect(isLinearizable(history, REGISTER)).toBe(false);
  });

  test("is possible if it was made by an object, and impossible after one read has got another value", () => {
    for (let round = 0; round < 50; round++) {
      const history = simulated(new Random(SEED + round));
      expect(isLinearizable(history, REGISTER), seedNotice).toBe(true);
      const reads = history.filter(({ isRead, text }) => isRead && text.startsWith("read"));
      const wrong = reads[round % reads.length] as Step;
      const { called, answered } = wrong;
      const changed = history.map((each) => (each === wrong ? read(called, answered, -1) : each));
      expect(isLinearizable(changed, REGISTER), seedNotice).toBe(false);
    }
  });

  test("that is impossible is shrunk to what shows it", () => {
    const before = simulated(new Random(SEED)).map((each) => ({
      ...each,
      called: each.called - 1_000,
      answered: each.answered - 1_000,
    }));
    const fault = [write(1_000, 1_001, 77), read(1_002, 1_003, 77), read(1_004, 1_005, 76)];
    const later = Array.from({ length: 20 }, (_, i) => write(2_000 + 2 * i, 2_001 + 2 * i, i));
    const left = shrunk([...before, ...fault, ...later], REGISTER);
    expect(left.filter(({ isRead }) => isRead)).toEqual([fault[2] as Step]);
    expect(left.filter(({ called }) => called >= 2_000)).toEqual([]);
    expect(printed(left)).toContain("read 76");
  });
});

/** Operations of three clients on an object that works, each of which takes effect somewhere within its time. */
function simulated(random: Random): Step[] {
  const steps: Step[] = [];
  let value = 0;
  for (let at = 0; at < 40; at++) {
    const [called, answered] = [at - random.below(300) / 100, at + random.below(300) / 100];
    const draw = random.below(3);
    if (draw === 0) steps.push(read(called, answered, value));
    else if (draw === 1) {
      const isLost = random.below(8) === 0;
      if (!isLost || random.below(2) === 0) value = at + 1;
      steps.push(write(called, isLost ? NEVER : answered, at + 1));
    } else {
      const from = random.below(2) === 0 ? value : -5;
      const passed = from === value;
      if (passed) value = at + 1;
      steps.push(swap(called, answered, from, at + 1, passed));
    }
  }
  return [...steps, read(100, 101, value)];
}
