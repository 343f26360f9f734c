import { expect, test } from "bun:test";
import { LookupPool } from "../../../../src/engine/requests/lookup-pool.ts";
import { buildSegment, newView } from "../../../../src/engine/text/index.ts";
import { TurnBudget } from "../../../../src/shared/turn-budget.ts";
import { lookup } from "../../../../workers/lookup.ts";
import type { LookupResult, LookupTask } from "../../../../workers/protocol.ts";

const buffer = buildSegment([
  { id: "1", path: "a.md", title: "", headings: [], frontmatter: [], content: "lantern" },
]);
const view = newView([{ key: "k", buffer }], [Uint32Array.of(1)]);

function taskOf(query: string | null): LookupTask {
  return {
    view,
    query,
    limit: 12,
    shardIndex: 0,
    shardCount: 1,
    progress: "",
    selfPath: "/",
    next: "",
  };
}

const BUDGET_MS = 1;

/** A pool whose workers report this cost, and the number of lookups that ran on them. */
function poolWith(took: number, budget = new TurnBudget(BUDGET_MS)) {
  const counter = { onWorkers: 0 };
  const run = async (_: string, task: LookupTask): Promise<LookupResult> => {
    counter.onWorkers++;
    return { ...lookup(task), took };
  };
  return { pool: new LookupPool(run, budget), counter };
}

test("a lookup of a scope that was never searched runs on a worker", async () => {
  const { pool, counter } = poolWith(0.01);
  await pool.lookup("tenant", "scope", taskOf("lantern"));
  expect(counter.onWorkers).toBe(1);
});

test("a lookup that is known to be cheap is answered at once, with the same page", async () => {
  const { pool } = poolWith(0.01);
  const first = await pool.lookup("tenant", "scope", taskOf("lantern"));
  const second = pool.lookup("tenant", "scope", taskOf("lantern"));
  expect(second).not.toBeInstanceOf(Promise);
  expect({ ...(second as LookupResult), took: 0 }).toEqual({ ...first, took: 0 });
});

test("an expensive scope, and a long query in a cheap one, run on workers", async () => {
  const { pool, counter } = poolWith(0.5);
  await pool.lookup("tenant", "slow", taskOf("x".repeat(16)));
  await pool.lookup("tenant", "slow", taskOf("x".repeat(500)));
  expect(counter.onWorkers).toBe(2);
});

test("cheap browsing does not make searches look cheap", async () => {
  const { pool, counter } = poolWith(0.001);
  await pool.lookup("tenant", "scope", taskOf(null));
  await pool.lookup("tenant", "scope", taskOf("lantern"));
  expect(counter.onWorkers).toBe(2);
});

test("one turn of the event loop spends a bounded time on lookups", async () => {
  const { pool, counter } = poolWith(BUDGET_MS / 4);
  await pool.lookup("tenant", "scope", taskOf("lantern"));
  const startedAt = performance.now();
  const answers: unknown[] = [];
  while (performance.now() - startedAt < 5_000) {
    answers.push(pool.lookup("tenant", "scope", taskOf("lantern")));
    if (counter.onWorkers > 1) break;
  }
  expect(counter.onWorkers).toBe(2);
  await Promise.all(answers);
});

test("a turn in which searches have used up the time leaves lookups to the workers", async () => {
  const budget = new TurnBudget(BUDGET_MS);
  const { pool, counter } = poolWith(0.01, budget);
  await pool.lookup("tenant", "scope", taskOf("lantern"));
  budget.spend(BUDGET_MS);
  expect(pool.lookup("tenant", "scope", taskOf("lantern"))).toBeInstanceOf(Promise);
  await new Promise((resolve) => setImmediate(resolve));
  expect(pool.lookup("tenant", "scope", taskOf("lantern"))).not.toBeInstanceOf(Promise);
  expect(counter.onWorkers).toBe(2);
});

test("without time on the main thread every lookup runs on a worker", async () => {
  const { pool, counter } = poolWith(0, new TurnBudget(0));
  for (let i = 0; i < 3; i++) await pool.lookup("tenant", "scope", taskOf("lantern"));
  expect(counter.onWorkers).toBe(3);
});
