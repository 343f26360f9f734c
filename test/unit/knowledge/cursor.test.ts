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

describe("lookup cursors", () => {
  test("a cursor loads exactly the state that it was saved for", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(state, async (original) => {
        const cursor = await cursors.save(original);
        expect(await cursors.load(cursor, original.question.projectId)).toEqual(original);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{24}$/);
      }),
    );
  });

  test("a cursor is different each time, and valid in its own project only", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(state, fc.uuid(), async (original, other) => {
        const cursor = await cursors.save(original);
        expect(await cursors.save(original)).not.toBe(cursor);
        fc.pre(other !== original.question.projectId);
        expect(await slugOf(cursors.load(cursor, other))).toBe("invalid-cursor");
      }),
    );
  });

  test("a cursor whose stored state is damaged is invalid", async () => {
    const coordinator = createMemoryCoordinator();
    const cursors = new LookupCursors(coordinator);
    const [original] = fc.sample(state, 1) as [LookupState];
    const projectId = original.question.projectId;
    const cursor = await cursors.save(original);
    const stored = (await coordinator.get(`lookup:${cursor}`)) as string;
    const { question, progress } = JSON.parse(stored);
    const damaged = [
      ...["", "null", "7", "{}", "[]", stored.slice(0, -1), stored.replace("{", "[")],
      JSON.stringify({ question }),
      JSON.stringify({ question: { ...question, limit: "many" }, progress }),
      JSON.stringify({ question: { ...question, shardCount: 0 }, progress }),
      JSON.stringify({ question, progress: { ...progress, returned: [null] } }),
    ];
    for (const text of damaged) {
      await coordinator.put(`lookup:${cursor}`, text, 60);
      expect(await slugOf(cursors.load(cursor, projectId))).toBe("invalid-cursor");
    }
  });

  test("an invented or damaged cursor is refused", async () => {
    const cursors = new LookupCursors(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 40 }), async (invented) => {
        expect(await slugOf(cursors.load(invented, "project"))).toBe("invalid-cursor");
      }),
    );
  });
});
