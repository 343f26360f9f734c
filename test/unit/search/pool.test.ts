import { describe, expect, test } from "bun:test";
import type { Indexer } from "../../../src/indexing/indexer.ts";
import { EmbeddedEngine } from "../../../src/search/embedded-engine.ts";
import type { SearchQuery } from "../../../src/search/engine.ts";
import { SearchPool, type SearchRunner } from "../../../src/search/pool.ts";
import { SEARCH_BATCH_MAX } from "../../../src/shared/limits.ts";
import type { SearchRequest, SearchResult, SearchTask } from "../../../workers/protocol.ts";

const request = (number: number): SearchRequest => ({
  project: "no project is called this",
  scopeId: "scope",
  selfPath: "/",
  body: Uint8Array.of(number).buffer,
});

/** Workers that finish on command. The answer to each search is its own body. */
class HeldWorkers implements SearchRunner {
  readonly tasks: SearchTask[] = [];
  readonly #finish: Array<(error?: Error) => void> = [];

  constructor(readonly workers: number) {}

  run(task: SearchTask): Promise<SearchResult> {
    this.tasks.push(task);
    const { promise, resolve, reject } = Promise.withResolvers<SearchResult>();
    this.#finish.push((error) => {
      if (error) return reject(error);
      const replies = task.requests.map(({ body }) => new Uint8Array(body));
      resolve({ replies, took: task.requests.map(() => 5) });
    });
    return promise;
  }

  finish(error?: Error): void {
    this.#finish.shift()?.(error);
  }

  async close(): Promise<void> {}
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const sizes = (workers: HeldWorkers) => workers.tasks.map((task) => task.requests.length);

describe("the search pool", () => {
  test("a burst is distributed over the free workers, and later searches wait for the next batch", async () => {
    const workers = new HeldWorkers(2);
    const pool = new SearchPool(workers);
    const first = Array.from({ length: 5 }, (_, i) => pool.search(request(i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    const second = Array.from({ length: 20 }, (_, i) => pool.search(request(5 + i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    expect(pool.queued).toBe(20);
    while (sizes(workers).reduce((a, b) => a + b) < 25) {
      workers.finish();
      await turn();
    }
    workers.finish();
    workers.finish();
    expect(Math.max(...sizes(workers))).toBeLessThanOrEqual(SEARCH_BATCH_MAX);
    const replies = await Promise.all([...first, ...second]);
    expect(replies).toEqual(Array.from({ length: 25 }, (_, i) => Uint8Array.of(i)));
  });

  test("only the searches of a worker that died fail", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers);
    const lost = pool.search(request(1)) as Promise<unknown>;
    const outcome = lost.then(
      () => "answered",
      (error: Error) => error.message,
    );
    await turn();
    const kept = pool.search(request(2));
    workers.finish(new Error("the worker died"));
    expect(await outcome).toBe("the worker died");
    await turn();
    workers.finish();
    expect(await kept).toEqual(Uint8Array.of(2));
  });

  test("a search of unknown or high cost goes to a worker, even an idle one", async () => {
    const workers = new HeldWorkers(1);
    const pool = new SearchPool(workers);
    expect(pool.search(request(1))).toBeInstanceOf(Promise);
    await turn();
    workers.finish();
    await turn();
    // It cost five milliseconds, so the next one must not block the main thread.
    expect(pool.search(request(2))).toBeInstanceOf(Promise);
  });
});

describe("the engine", () => {
  const loaded = { isLoaded: () => true, used() {}, nativeName: (id: string) => id };
  const query: SearchQuery = {
    scope: { projectId: "p", id: "s", kind: "environment", frozen: false },
    selfPath: "/",
    body: Uint8Array.of(1),
  };

  test("too many searches are refused as overloaded until others have finished", async () => {
    const workers = new HeldWorkers(1);
    let refused = 0;
    const indexer = loaded as unknown as Indexer;
    const engine = new EmbeddedEngine(new SearchPool(workers), indexer, () => refused++, 2);
    engine.admit();
    engine.admit();
    expect(() => engine.admit()).toThrow("more work than it can queue");
    expect(refused).toBe(1);
    const answer = engine.search(query) as Promise<unknown>;
    await turn();
    workers.finish();
    expect(await answer).toEqual({ kind: "found", json: Uint8Array.of(1) });
    engine.release();
    engine.admit();
    expect(refused).toBe(1);
  });
});
