import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { joined } from "../../../../native/owned-bytes.ts";
import { createMemoryCoordinator } from "../../../../src/db/coordination/memory.ts";
import { LookupState } from "../../../../src/query/lookup/question.ts";
import { StoredCursors } from "../../../../src/query/stored-cursors.ts";

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
  progress: fc.string({ maxLength: 200 }),
});

const cursorsOf = (coordinator: ReturnType<typeof createMemoryCoordinator>) =>
  new StoredCursors(coordinator, "lookup", LookupState);

describe("lookup cursors", () => {
  test("a cursor loads exactly the state that it was saved for", async () => {
    const cursors = cursorsOf(createMemoryCoordinator());
    await fc.assert(
      fc.asyncProperty(state, async (original) => {
        const cursor = cursors.newCursor();
        expect(await cursors.load(cursor)).toBeNull();
        await cursors.keep(joined([]), cursor, original, "anybody");
        expect(await cursors.load(cursor)).toEqual(original);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{24}$/);
      }),
    );
  });

  test("a cursor whose stored state is damaged is invalid", async () => {
    const coordinator = createMemoryCoordinator();
    const cursors = cursorsOf(coordinator);
    const [original] = fc.sample(state, 1) as [LookupState];
    const cursor = cursors.newCursor();
    await cursors.keep(joined([]), cursor, original, "anybody");
    const stored = (await coordinator.get(`lookup:${cursor}`)) as string;
    const { question, progress } = JSON.parse(stored);
    const damaged = [
      ...["", "null", "7", "{}", "[]", stored.slice(0, -1), stored.replace("{", "[")],
      JSON.stringify({ question }),
      JSON.stringify({ question: { ...question, limit: "many" }, progress }),
      JSON.stringify({ question: { ...question, shardCount: 0 }, progress }),
      JSON.stringify({ question, progress: null }),
    ];
    for (const text of damaged) {
      await coordinator.put(`lookup:${cursor}`, text, { owner: "anybody", ttlSeconds: 60 });
      expect(await cursors.load(cursor)).toBeNull();
    }
  });
});
