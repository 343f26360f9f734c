import { expect, test } from "bun:test";
import fc from "fast-check";
import { planMoves, type ShardGroup } from "../../../../src/engine/pgvector/operator/plan-moves.ts";

const MIB = 1_048_576;
const WORKERS = ["a:1", "b:1", "c:1", "d:1"];

const group = (copyId: string, index: number, worker: string, mebibytes = 10): ShardGroup => ({
  shardId: `${copyId}-${index}`,
  copyId,
  worker,
  bytes: mebibytes * MIB,
});

/** The groups as they are after a plan was carried out. */
function after(groups: readonly ShardGroup[], workers: readonly string[]): ShardGroup[] {
  const targets = new Map(planMoves(groups, workers).map((move) => [move.group, move.to]));
  return groups.map((each) => ({ ...each, worker: targets.get(each) ?? each.worker }));
}

const bytesOn = (groups: readonly ShardGroup[], worker: string) =>
  groups.filter((each) => each.worker === worker).reduce((sum, { bytes }) => sum + bytes, 0);

test("an empty worker gets its share of one large project", () => {
  const groups = [0, 1, 2, 3, 4, 5].map((i) => group("p", i, i % 2 === 0 ? "a:1" : "b:1"));
  const moved = after(groups, ["a:1", "b:1", "c:1"]);
  for (const worker of ["a:1", "b:1", "c:1"]) expect(bytesOn(moved, worker)).toBe(20 * MIB);
  expect(planMoves(groups, ["a:1", "b:1", "c:1"])).toHaveLength(2);
});

test("an empty worker gets whole projects that have one placement each", () => {
  const groups = [0, 1, 2, 3].map((i) => group(`p${i}`, 0, "a:1"));
  const moved = after(groups, ["a:1", "b:1"]);
  expect(bytesOn(moved, "b:1")).toBe(20 * MIB);
});

test("nothing moves between workers that hold about as much, or where there is one", () => {
  expect(planMoves([group("p", 0, "a:1", 11), group("p", 1, "b:1", 10)], WORKERS)).toEqual([]);
  expect(planMoves([group("p", 0, "a:1")], ["a:1"])).toEqual([]);
  expect(planMoves([], WORKERS)).toEqual([]);
});

test("after any plan each project is spread as far as there are workers, and no further move is planned", () => {
  const drawn = fc.array(
    fc.record({
      copy: fc.constantFrom("p", "q", "r"),
      worker: fc.constantFrom(...WORKERS),
      mebibytes: fc.integer({ min: 0, max: 500 }),
    }),
    { maxLength: 24 },
  );
  fc.assert(
    fc.property(drawn, (all) => {
      const groups = all.map((each, i) => group(each.copy, i, each.worker, each.mebibytes));
      const moved = after(groups, WORKERS);
      for (const copy of ["p", "q", "r"]) {
        const counts = WORKERS.map(
          (worker) => moved.filter((it) => it.copyId === copy && it.worker === worker).length,
        );
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }
      expect(planMoves(moved, WORKERS)).toEqual([]);
    }),
  );
});
