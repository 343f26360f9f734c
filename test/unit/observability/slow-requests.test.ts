import { expect, test } from "bun:test";
import fc from "fast-check";
import { SlowRequests } from "../../../src/observability/slow-requests.ts";

const WINDOW_MS = 3_600_000;
const PER_PROJECT = 20;
const PROJECTS = 500;
const describe =
  (projectId: string, requestId = "r") =>
  () => ({
    ...{ operation: "retrieve", requestId, detail: {} },
    scope: { projectId, kind: "release" as const, id: "s" },
  });
const millisecondsOf = (slow: SlowRequests, project: string, now: number) =>
  slow.of(project, now).map(({ milliseconds }) => milliseconds);

test("a project keeps the 20 slowest requests of the last hour, as a list of all of them would say", () => {
  const requests = fc.array(
    fc.record({
      after: fc.integer({ min: 0, max: WINDOW_MS / 10 }),
      took: fc.nat(50),
    }),
    { maxLength: 120 },
  );
  fc.assert(
    fc.property(requests, (given) => {
      const slow = new SlowRequests();
      const kept: Array<{ at: number; took: number }> = [];
      let now = 0;
      for (const { after, took } of given) {
        now += after;
        slow.offer("p", took, describe("p"), now);
        // One that was pushed out by slower ones does not come back when they are too old.
        const recent = kept.filter(({ at }) => now - at < WINDOW_MS);
        recent.push({ at: now, took });
        recent.sort((a, b) => b.took - a.took);
        kept.splice(0, kept.length, ...recent.slice(0, PER_PROJECT));
        expect(millisecondsOf(slow, "p", now)).toEqual(kept.map((each) => each.took));
      }
    }),
  );
});

test("a request that is too fast is not described, and one of another project is apart", () => {
  const slow = new SlowRequests();
  for (let i = 0; i < PER_PROJECT; i++) slow.offer("p", 10, describe("p"), i);
  const fail = () => {
    throw new Error("was described");
  };
  slow.offer("p", 10, fail, 100);
  slow.offer("q", 1, describe("q", "other"), 100);
  expect(slow.of("q", 100)).toMatchObject([{ at: 100, milliseconds: 1, requestId: "other" }]);
  expect(slow.of("p", 100)).toHaveLength(PER_PROJECT);
  expect(slow.of("p", WINDOW_MS + 100)).toEqual([]);
  expect(slow.of("unknown", 0)).toEqual([]);
});

test("so many projects are kept, and those without new requests go first", () => {
  const slow = new SlowRequests();
  for (let i = 0; i < PROJECTS; i++) slow.offer(`p${i}`, 1, describe("p"), 1);
  slow.offer("p0", 2, describe("p"), 2);
  slow.offer("new", 1, describe("p"), 2);
  expect(millisecondsOf(slow, "p0", 3)).toEqual([2, 1]);
  expect(slow.of("p1", 3)).toEqual([]);
  expect(slow.of("p2", 3)).toHaveLength(1);
});
