import { describe, expect, test } from "bun:test";
import { AppliedChanges } from "../../../../src/index/changes/applied-changes.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

/** The progress of a thread that has read the log to its end, at this change. */
const at = (reached: number, ends: number, applied: [string, number][] = []) =>
  ({ type: "progress", reached, ends, applied }) as const;

/** Waits of reads, and how those that have ended did. */
function waitsOf(applied: AppliedChanges) {
  const ended: [seq: number, isThere: boolean][] = [];
  const client = new AbortController();
  const wait = (seq: number, projectId = "a") =>
    void applied
      .waitFor(projectId, seq, client.signal)
      .then((isThere) => ended.push([seq, isThere]));
  return { ended, wait, client };
}

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

test("a project lacks what is pending for it since that was heard of, and others lack nothing", async () => {
  const applied = new AppliedChanges(() => true);
  applied.receive(at(7, 1, [["a", 4]]));
  await advance(30);
  applied.receive(at(8, 2, [["b", 8]]));
  expect([applied.of("a"), applied.of("b")]).toEqual([4, 8]);
  expect([applied.behindMs("a"), applied.behindMs("b")]).toEqual([30, 0]);
  applied.receive(at(8, 2, [["a", 8]]));
  expect([applied.of("a"), applied.behindMs("a")]).toEqual([8, 0]);
});

describe("a read that waits for a change", () => {
  test("ends with the message that shows it, and not with one of another project or an earlier change", async () => {
    const applied = new AppliedChanges(() => true);
    const { ended, wait } = waitsOf(applied);
    applied.receive(at(7, 1));
    wait(7);
    wait(8);
    wait(9);
    await turns();
    expect(ended).toEqual([[7, true]]);
    // The log has been read to 9, and 8 is still being indexed for this project.
    applied.receive(
      at(9, 2, [
        ["a", 7],
        ["b", 9],
      ]),
    );
    await turns();
    expect(ended).toEqual([[7, true]]);
    applied.receive(at(9, 2, [["a", 8]]));
    await turns();
    expect(ended).toEqual([
      [7, true],
      [8, true],
    ]);
    applied.receive(at(9, 2, [["a", 9]]));
    await turns();
    expect(ended.at(-1)).toEqual([9, true]);
  });

  test("ends with false when its client leaves, also before it began", async () => {
    const applied = new AppliedChanges(() => true);
    const { ended, wait, client } = waitsOf(applied);
    wait(1);
    await turns();
    expect(ended).toEqual([]);
    client.abort();
    wait(2);
    await turns();
    expect(ended).toEqual([
      [1, false],
      [2, false],
    ]);
    applied.receive(at(9, 1));
    await turns();
    expect(ended).toHaveLength(2);
  });

  test("does not wait for a project that is in the database only, and waits for one that is being loaded", async () => {
    const loaded = new Set<string>();
    const applied = new AppliedChanges((id) => loaded.has(id));
    const { ended, wait } = waitsOf(applied);
    applied.receive(at(7, 1));
    wait(9);
    await turns();
    expect(ended).toEqual([[9, true]]);
    applied.receive(at(7, 1, [["a", -1]]));
    wait(3);
    loaded.add("a");
    await turns();
    expect(ended).toHaveLength(1);
    applied.receive(at(7, 1, [["a", 7]]));
    await turns();
    expect(ended.at(-1)).toEqual([3, true]);
  });

  test("is told by the next thread after one that has crashed", async () => {
    const loaded = new Set(["a", "b"]);
    const applied = new AppliedChanges((id) => loaded.has(id));
    const { ended, wait } = waitsOf(applied);
    applied.receive(
      at(7, 1, [
        ["a", 5],
        ["b", 5],
      ]),
    );
    wait(6);
    wait(7, "b");
    loaded.clear();
    applied.clear();
    applied.receive(at(8, 0, [["a", -1]]));
    await turns();
    // The next thread has not loaded the other project, which is read from the database as it is now.
    expect(ended).toEqual([[7, true]]);
    loaded.add("a");
    applied.receive(at(8, 1, [["a", 8]]));
    await turns();
    expect(ended.at(-1)).toEqual([6, true]);
  });
});
