import { afterAll, describe, expect, test } from "bun:test";
import { RecallMonitor } from "../../../../src/engine/embedded/recall-monitor.ts";
import { EmbeddedEngine } from "../../../../src/engine/embedded/search.ts";
import type { Indexer } from "../../../../src/engine/indexing/indexer.ts";
import type { SearchQuery } from "../../../../src/engine/requests/search-engine.ts";
import { SearchPool } from "../../../../src/engine/requests/search-pool.ts";
import type { SearchRunner } from "../../../../src/engine/requests/search-runner.ts";
import { OVERLOADED } from "../../../../src/problem/problem.ts";
import { SEARCH_BATCH_MAX, SEARCH_EXACT_QUEUE_MAX } from "../../../../src/shared/limits.ts";
import { TurnBudget } from "../../../../src/shared/turn-budget.ts";
import type {
  LookupReply,
  LookupResult,
  LookupTask,
  SearchFound,
  SearchRequest,
  SearchResult,
  SearchTask,
} from "../../../../workers/protocol.ts";

const request = (number: number): SearchRequest => ({
  project: "no project is called this",
  scopeId: "scope",
  selfPath: "/",
  body: Uint8Array.of(number).buffer,
});

const work = { rescoreMs: 0, scopeVectors: 0, estimates: 0, comparisons: 0, countsAll: true };
const times = { ignored: "", waitMs: 0, parseMs: 1, searchMs: 2, renderMs: 3, ...work };
const replyTo = (body: ArrayBuffer): SearchFound => ({
  ...times,
  json: new Uint8Array(body),
  plan: "scan",
});
const answerOf = (number: number) => ({
  ...replyTo(Uint8Array.of(number).buffer),
  waitMs: expect.any(Number) as unknown as number,
});
const exact = (number: number): SearchRequest => ({ ...request(number), exact: true });

/** Workers that finish on command. The answer to each search is its own body. */
class HeldWorkers implements SearchRunner {
  readonly tasks: SearchTask[] = [];
  /** The sizes of the batches of lookups. */
  readonly lookups: number[] = [];
  readonly #finish: Array<(error?: Error) => void> = [];

  constructor(readonly workers: number) {}

  run(task: SearchTask): Promise<SearchResult> {
    this.tasks.push(task);
    const { promise, resolve, reject } = Promise.withResolvers<SearchResult>();
    this.#finish.push((error) => {
      if (error) return reject(error);
      const replies = task.requests.map(({ body }) => replyTo(body));
      resolve({ replies, took: task.requests.map(() => 5) });
    });
    return promise;
  }

  /** Answers at once; the second lookup of a batch fails. */
  async lookUpAll(tasks: readonly LookupTask[]): Promise<LookupReply[]> {
    this.lookups.push(tasks.length);
    return tasks.map((task, i) =>
      i === 1
        ? { reason: "failed", message: "broken" }
        : ({ progress: task.query } as LookupResult),
    );
  }

  finish(error?: Error): void {
    this.#finish.shift()?.(error);
  }

  async close(): Promise<void> {}
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const isExact = (task: SearchTask) => task.requests.some((search) => search.exact);
const sizes = (workers: HeldWorkers) => workers.tasks.map((task) => task.requests.length);

const lookupOf = (query: string): LookupTask => ({
  view: { number: 1, segments: [], documentSets: [] },
  ...{ query, limit: 12, shardIndex: 0, shardCount: 1, progress: "", selfPath: "/", next: "" },
});

describe("the search pool", () => {
  test("lookups of one turn share a hand-off, and one that fails fails alone", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const answers = ["a", "b", "c"].map((query) => pool.lookup("tenant", lookupOf(query), 1));
    const results = await Promise.allSettled(answers);
    expect(workers.lookups).toEqual([3]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await answers[2]).toMatchObject({ progress: "c" });
  });

  test("a burst is distributed over the free workers, and later searches wait for the next batch", async () => {
    const workers = new HeldWorkers(2);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const first = Array.from({ length: 5 }, (_, i) => pool.search("tenant", request(i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    const second = Array.from({ length: 2 }, (_, i) => pool.search("tenant", request(5 + i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    expect(pool.queued).toBe(2);
    workers.finish();
    workers.finish();
    await turn();
    workers.finish();
    const replies = await Promise.all([...first, ...second]);
    expect(replies).toEqual(Array.from({ length: 7 }, (_, i) => answerOf(i)));
  });

  test("when much work waits, workers get the next batch before they have finished one", async () => {
    const workers = new HeldWorkers(2);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const answers = Array.from({ length: 60 }, (_, i) => pool.search("tenant", request(i)));
    // They do not wait for the end of a turn in which so much arrives.
    expect(workers.tasks.length).toBe(4);
    await turn();
    expect(workers.tasks.length).toBe(4);
    while (sizes(workers).reduce((a, b) => a + b) < 60) {
      workers.finish();
      await turn();
    }
    for (let i = 0; i < 4; i++) workers.finish();
    expect(Math.max(...sizes(workers))).toBeLessThanOrEqual(SEARCH_BATCH_MAX);
    expect(await Promise.all(answers)).toEqual(answers.map((_, i) => answerOf(i)));
  });

  test("a queue with more work than its bound refuses the tenant that filled it, and no other", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const outcomes: Array<Promise<string>> = [];
    let refused = 0;
    for (let i = 0; i < 1_000; i++) {
      try {
        const answer = Promise.resolve(pool.search("greedy", request(i)));
        outcomes.push(
          answer.then(
            () => "answered",
            () => "refused",
          ),
        );
      } catch (error) {
        expect(error).toBe(OVERLOADED);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(800);
    const modest = pool.search("modest", request(1));
    for (let i = 0; i < 2; i++) {
      workers.finish();
      await turn();
    }
    // The batch after the ones that already ran contains it.
    workers.finish();
    expect(await modest).toEqual(answerOf(1));
    while (pool.queued > 0) {
      workers.finish();
      await turn();
    }
    workers.finish();
    workers.finish();
    expect((await Promise.all(outcomes)).filter((name) => name === "refused").length).toBe(1);
  });

  test("only the searches of a worker that died fail", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const lost = pool.search("tenant", request(1)) as Promise<unknown>;
    const outcome = lost.then(
      () => "answered",
      (error: Error) => error.message,
    );
    await turn();
    const kept = pool.search("tenant", request(2));
    workers.finish(new Error("the worker died"));
    expect(await outcome).toBe("the worker died");
    await turn();
    workers.finish();
    expect(await kept).toEqual(answerOf(2));
  });

  test("a search of unknown or high cost goes to a worker, even an idle one", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    expect(pool.search("tenant", request(1))).toBeInstanceOf(Promise);
    await turn();
    workers.finish();
    await turn();
    // It cost five milliseconds, so the next one must not block the main thread.
    expect(pool.search("tenant", request(2))).toBeInstanceOf(Promise);
  });
});

describe("exact searches", () => {
  test("never run on all workers at once, nor in a batch", async () => {
    const workers = new HeldWorkers(3);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const answers = Array.from({ length: 5 }, (_, i) => pool.search("tenant", exact(i)));
    await turn();
    expect(sizes(workers)).toEqual([1, 1]);
    expect(pool.queuedExact).toBe(3);
    const cheap = pool.search("tenant", request(9));
    await turn();
    expect(workers.tasks.map(isExact)).toEqual([true, true, false]);
    for (let i = 0; i < 6; i++) {
      workers.finish();
      await turn();
    }
    expect(await cheap).toEqual(answerOf(9));
    expect(await Promise.all(answers)).toEqual(answers.map((_, i) => answerOf(i)));
    expect(pool.queued).toBe(0);
  });

  test("let the searches go first that wait for the same worker", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    const first = pool.search("tenant", exact(1));
    await turn();
    const second = pool.search("tenant", exact(2));
    const others = [pool.search("tenant", request(3)), pool.search("tenant", request(4))];
    await turn();
    expect(workers.tasks.map(isExact)).toEqual([true]);
    workers.finish();
    await first;
    await turn();
    expect(workers.tasks.map(isExact)).toEqual([true, false]);
    expect(sizes(workers)).toEqual([1, 2]);
    workers.finish();
    await Promise.all(others);
    await turn();
    expect(workers.tasks.map(isExact)).toEqual([true, false, true]);
    workers.finish();
    expect(await second).toEqual(answerOf(2));
  });

  test("run on a worker however cheap the scope's searches are", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers, new TurnBudget(0));
    for (let i = 0; i < 3; i++) {
      expect(pool.search("tenant", exact(i))).toBeInstanceOf(Promise);
      await turn();
      workers.finish();
      await turn();
    }
  });
});

const unmeasured = new RecallMonitor({
  isIdle: () => false,
  measure: async () => null,
  measured() {},
  recalibrate() {},
  failed() {},
});
afterAll(() => unmeasured.close());

describe("the engine", () => {
  const loaded = { isLoaded: () => true, used() {}, nativeName: (id: string) => id };
  const query: SearchQuery = {
    tenant: "tenant",
    scope: { tenant: "tenant", projectId: "p", id: "s", kind: "environment", frozen: false },
    selfPath: "/",
    body: Uint8Array.of(1),
    exact: false,
  };

  test("too many searches are refused as overloaded until others have finished", async () => {
    const workers = new HeldWorkers(1);
    const indexer = loaded as unknown as Indexer;
    const engine = new EmbeddedEngine(
      new SearchPool(workers, new TurnBudget(0)),
      indexer,
      unmeasured,
      4,
    );
    engine.admit("greedy");
    engine.admit("greedy");
    expect(() => engine.admit("greedy")).toThrow("more work than it can queue");
    engine.admit("modest");
    const answer = engine.search(query) as Promise<unknown>;
    await turn();
    workers.finish();
    expect(await answer).toEqual({ kind: "found", ...answerOf(1) });
    engine.release("greedy");
    engine.admit("greedy");
  });

  test("exact searches are refused while too many wait, and others are not", async () => {
    const workers = new HeldWorkers(1);
    const indexer = loaded as unknown as Indexer;
    const engine = new EmbeddedEngine(
      new SearchPool(workers, new TurnBudget(0)),
      indexer,
      unmeasured,
    );
    const bodies = Array.from({ length: SEARCH_EXACT_QUEUE_MAX + 1 }, () => Uint8Array.of(1));
    for (const body of bodies) {
      void engine.search({ ...query, body, exact: true });
      await turn();
    }
    expect(() => engine.search({ ...query, exact: true })).toThrow("more work than it can queue");
    void engine.search(query);
  });
});
