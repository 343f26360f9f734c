import { expect, test } from "bun:test";
import { LookupState } from "../../../../src/api/lookup/question.ts";
import { StoredCursors } from "../../../../src/api/scopes/stored-cursors.ts";
import { createMemoryCoordinator } from "../../../../src/coordination/memory.ts";

test("a cursor whose stored state is damaged is invalid", async () => {
  const coordinator = createMemoryCoordinator();
  const cursors = new StoredCursors(coordinator, "lookup", LookupState);
  const cursor = cursors.newCursor();
  const question = {
    ...{ projectId: crypto.randomUUID(), target: { environment: "production" }, query: null },
    ...{ limit: 12, shardIndex: 0, shardCount: 1 },
  };
  const state = { question, progress: "7" };
  await cursors.save(cursor, state, "anybody");
  expect(await cursors.load(cursor)).toEqual(state);
  const stored = (await coordinator.get(`lookup:${cursor}`)) as string;
  for (const text of [
    ...["", "null", "7", "{}", "[]", stored.slice(0, -1), stored.replace("{", "[")],
    JSON.stringify({ question }),
    JSON.stringify({ question: { ...question, limit: "many" }, progress: "7" }),
    JSON.stringify({ question: { ...question, shardCount: 0 }, progress: "7" }),
    JSON.stringify({ question, progress: null }),
  ]) {
    await coordinator.put(`lookup:${cursor}`, text, { owner: "anybody", ttlSeconds: 60 });
    expect(await cursors.load(cursor)).toBeNull();
  }
});
