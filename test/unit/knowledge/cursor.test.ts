import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryCoordinator } from "../../../src/coordination/memory.ts";
import { LookupCursors, type LookupState } from "../../../src/knowledge/cursor.ts";
import { Problem } from "../../../src/problem/problem.ts";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const state: fc.Arbitrary<LookupState> = fc.record({
  question: fc.record({
    projectId: fc.uuid(),
    target: fc.oneof(
      fc.constant(null),
      name.map((environment) => ({ environment })),
      name.map((release) => ({ release })),
    ),
    query: fc.option(name),
    limit: fc.integer({ min: 1, max: 12 }),
    shardIndex: fc.nat(7),
    shardCount: fc.integer({ min: 1, max: 8 }),
  }),
  progress: fc.record({
    returned: fc.array(fc.stringMatching(/^[0-9a-z]{1,13}$/), { maxLength: 50 }),
    after: fc.option(name),
  }),
});

const slugOf = async (failing: Promise<unknown>) => {
  const error = await failing.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return error instanceof Problem ? error.slug : error;
};

describe("a cursor", () => {
  test("leads back to exactly the state that it was made for", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(state, async (original) => {
        const cursor = await cursors.seal(original);
        expect(await cursors.open(cursor, original.question.projectId)).toEqual(original);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{24}$/);
      }),
    );
  });

  test("is different each time, tells nothing, and is good for its own project alone", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(state, fc.uuid(), async (original, other) => {
        const cursor = await cursors.seal(original);
        expect(await cursors.seal(original)).not.toBe(cursor);
        fc.pre(other !== original.question.projectId);
        expect(await slugOf(cursors.open(cursor, other))).toBe("invalid-cursor");
      }),
    );
  });

  test("that was made up or damaged is refused", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 40 }), async (made) => {
        expect(await slugOf(cursors.open(made, "project"))).toBe("invalid-cursor");
      }),
    );
  });
});
