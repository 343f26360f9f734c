import { expect, test } from "bun:test";
import { AppliedChanges } from "../../../../src/indexing/changes/applied-changes.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

/** The progress of a thread that has read the log to its end, at this change. */
const at = (reached: number, ends: number) =>
  ({ type: "progress", reached, ends, pending: [] }) as const;

test("a change that is known and not read makes answers incomplete, until the log has ended before it twice", () => {
  const applied = new AppliedChanges(() => true);
  applied.receive(at(7, 1));
  expect(applied.behindMs("a")).toBe(0);
  applied.note(9);
  applied.receive(at(7, 2));
  expect(applied.behindMs("a")).toBeGreaterThan(0);
  applied.receive(at(7, 3));
  expect(applied.behindMs("a")).toBe(0);
  expect(applied.newest.seq).toBe(7);
});

test("the newest change is known since it was heard of, however often the log is read again", async () => {
  const applied = new AppliedChanges(() => true);
  applied.receive(at(7, 1));
  const { since } = applied.newest;
  await advance(400);
  applied.receive(at(7, 2));
  applied.receive(at(7, 3));
  expect(applied.newest).toEqual({ seq: 7, since });
});

test("a change that the log has is not taken for lost, however late it is read", () => {
  const applied = new AppliedChanges(() => true);
  applied.receive(at(7, 1));
  applied.note(9);
  applied.receive(at(8, 1));
  applied.receive(at(8, 2));
  expect(applied.behindMs("a")).toBeGreaterThan(0);
  applied.receive(at(9, 2));
  expect([applied.behindMs("a"), applied.newest.seq]).toEqual([0, 9]);
});
