import { afterAll, afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { joined } from "../../../../native/owned-bytes.ts";
import {
  ANSWER_INLINE_MAX_BYTES,
  SEARCH_BATCH_MAX,
  SEARCH_BATCH_MIN_MS,
  SEARCH_EXACT_QUEUE_MAX,
} from "../../../../src/domain/limits.ts";
import { OVERLOADED } from "../../../../src/domain/problem/problem.ts";
import { RecallMonitor } from "../../../../src/engine/recall-monitor.ts";
import type {
  LookupRequest,
  Reply,
  SearchRequest,
  SearchWork,
} from "../../../../src/engine/requests/request.ts";
import { run } from "../../../../src/engine/requests/run.ts";
import { Scheduler } from "../../../../src/engine/requests/scheduler.ts";
import {
  BATCHES_PER_WORKER,
  type WorkerPool,
} from "../../../../src/engine/requests/worker-pool.ts";
import { Searcher } from "../../../../src/engine/searcher.ts";
import { buildSegment, newView } from "../../../../src/index/segments/index.ts";
import { turns } from "../../../../support/fake-clock.ts";
import { lookupRequest, searchRequest } from "../../../../support/requests.ts";

const INLINE_MS = 1;
/** The clock moves by so much whenever it is read, so that work takes the same time on every machine. */
const TICK_MS = INLINE_MS / 16;
const clock = { now: 0, restore: () => {} };
beforeEach(() => {
  const reading = spyOn(performance, "now").mockImplementation(() => {
    clock.now += TICK_MS;
    return clock.now;
  });
  clock.restore = () => reading.mockRestore();
});
afterEach(() => clock.restore());

type Batch = ReadonlyArray<SearchRequest | LookupRequest>;

const work: SearchWork = {
  plan: "scan",
  ignored: null,
  parseMs: 1,
  searchMs: 2,
  renderMs: 3,
  rescoreMs: 0,
  scopeVectors: 0,
  estimates: 0,
  comparisons: 0,
  countsAll: true,
  waitMs: 0,
  tookMs: 5,
};
const anyNumber = expect.any(Number) as unknown as number;
const answerOf = (number: number): Reply => ({
  status: "answered",
  json: joined([Uint8Array.of(number)]),
  work: { ...work, waitMs: anyNumber, tookMs: anyNumber },
});
const ofTenant = (tenant: string, number: number) => {
  const request = searchRequest(number);
  return { ...request, scope: { ...request.scope, tenant } };
};
const exact = (number: number) => searchRequest(number, { exact: true });

/**
 * Workers that finish on command, and report what each request took. The answer to each search is its own
 * body; lookups of "broken" fail.
 */
class HeldWorkers implements WorkerPool {
  readonly batches: Batch[] = [];
  readonly #finish: Array<(error?: Error) => void> = [];

  constructor(
    readonly workers: number,
    private readonly tookMs = 5,
  ) {}

  run(batch: Batch): Promise<Reply[]> {
    this.batches.push(batch);
    const { promise, resolve, reject } = Promise.withResolvers<Reply[]>();
    this.#finish.push((error) => {
      if (error) return reject(error);
      resolve(
        batch.map((request): Reply => {
          if (request.kind === "search") {
            return {
              status: "answered",
              json: request.body,
              work: { ...work, tookMs: this.tookMs },
            };
          }
          if (request.query === "broken") return { status: "failed", message: "broken" };
          const reply = run(request) as Reply & { status: "answered" };
          return { ...reply, work: { ...reply.work, tookMs: this.tookMs } } as Reply;
        }),
      );
    });
    return promise;
  }

  finish(error?: Error): void {
    this.#finish.shift()?.(error);
  }

  async close(): Promise<void> {}
}

const turn = () => turns(1);
const isExact = (batch: Batch) => batch.some((one) => one.kind === "search" && one.exact);
const sizes = (workers: HeldWorkers) => workers.batches.map((batch) => batch.length);

const buffer = buildSegment([
  { id: "1", path: "a.md", title: "", headings: [], frontmatter: [], content: "lantern" },
]);
const view = newView([{ key: "k", buffer }], [Uint32Array.of(1)]);
const lookupOf = (query: string | null) => lookupRequest(view, query);

/** A hundredth of a batch that is as short as any. */
const CHEAP_MS = SEARCH_BATCH_MIN_MS / 100;

/** Workers and a scheduler, which has learnt that searches and lookups are cheap. */
async function cheapRequests(count: number, tookMs = CHEAP_MS) {
  const workers = new HeldWorkers(count, tookMs);
  const scheduler = new Scheduler(workers, 0);
  for (const request of [lookupOf("lantern"), searchRequest(0)]) {
    const measured = scheduler.run(request);
    await turn();
    workers.finish();
    await measured;
  }
  await turn();
  workers.batches.length = 0;
  return { workers, scheduler };
}

describe("the scheduler", () => {
  test("searches and lookups of one turn share a hand-off", async () => {
    const { workers, scheduler } = await cheapRequests(1);
    const requests = [lookupOf("lantern"), searchRequest(1), lookupOf("broken")];
    const replies = Promise.all(requests.map((request) => scheduler.run(request)));
    await turn();
    expect(sizes(workers)).toEqual([3]);
    workers.finish();
    expect(await replies).toMatchObject([
      { status: "answered", work: { total: 1 } },
      answerOf(1),
      { status: "failed", message: "broken" },
    ]);
  });

  test("a burst is distributed over the free workers, and later searches wait for the next batch", async () => {
    const { workers, scheduler } = await cheapRequests(2);
    const first = Array.from({ length: 5 }, (_, i) => scheduler.run(searchRequest(i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    const second = Array.from({ length: 2 }, (_, i) => scheduler.run(searchRequest(5 + i)));
    await turn();
    expect(sizes(workers)).toEqual([3, 2]);
    expect(scheduler.queued).toBe(2);
    workers.finish();
    workers.finish();
    await turn();
    workers.finish();
    const replies = await Promise.all([...first, ...second]);
    expect(replies).toEqual(Array.from({ length: 7 }, (_, i) => answerOf(i)));
  });

  test("when much work waits, workers get the next batch before they have finished one", async () => {
    const workers = new HeldWorkers(2);
    const scheduler = new Scheduler(workers, 0);
    const answers = Array.from({ length: 60 }, (_, i) => scheduler.run(searchRequest(i)));
    // They do not wait for the end of a turn in which so much arrives.
    expect(workers.batches.length).toBe(4);
    await turn();
    expect(workers.batches.length).toBe(4);
    while (sizes(workers).reduce((a, b) => a + b) < 60) {
      workers.finish();
      await turn();
    }
    for (let i = 0; i < 4; i++) workers.finish();
    expect(Math.max(...sizes(workers))).toBeLessThanOrEqual(SEARCH_BATCH_MAX);
    expect(await Promise.all(answers)).toEqual(answers.map((_, i) => answerOf(i)));
  });

  test("a queue with more work than its bound refuses the tenant that filled it, and no other", () => {
    const scheduler = new Scheduler(new HeldWorkers(1), 0);
    const ask = (tenant: string, number: number) => {
      try {
        Promise.resolve(scheduler.run(ofTenant(tenant, number))).catch(() => {});
        return "waits";
      } catch (error) {
        return error;
      }
    };
    const flood = Array.from({ length: 1_000 }, (_, i) => ask("greedy", i));
    expect(flood.filter((outcome) => outcome === OVERLOADED).length).toBeGreaterThan(800);
    expect(ask("modest", 1)).toBe("waits");
  });

  test("a search waits for a few milliseconds of another tenant's work, however much of it there is", async () => {
    const TOOK_MS = 0.25;
    const { workers, scheduler } = await cheapRequests(1, TOOK_MS);
    const flood = Array.from({ length: 100 }, (_, i) => scheduler.run(ofTenant("greedy", i)));
    let answered = false;
    const modest = Promise.resolve(scheduler.run(ofTenant("modest", 1))).then(() => {
      answered = true;
    });
    while (!answered) {
      workers.finish();
      await turn();
    }
    await modest;
    const order = workers.batches.flat().map(({ scope }) => scope.tenant);
    expect(order.indexOf("modest") * TOOK_MS).toBeLessThan(8);
    while (scheduler.queued > 0) {
      workers.finish();
      await turn();
    }
    for (let i = 0; i < BATCHES_PER_WORKER; i++) workers.finish();
    await Promise.all(flood);
  });

  test("only the searches of a worker that died fail", async () => {
    const workers = new HeldWorkers(1);
    const scheduler = new Scheduler(workers, 0);
    const lost = scheduler.run(searchRequest(1)) as Promise<unknown>;
    const outcome = lost.then(
      () => "answered",
      (error: Error) => error.message,
    );
    await turn();
    const kept = scheduler.run(searchRequest(2));
    workers.finish(new Error("the worker died"));
    expect(await outcome).toBe("the worker died");
    await turn();
    workers.finish();
    expect(await kept).toEqual(answerOf(2));
  });

  test("a search of unknown or high cost goes to a worker, even an idle one", async () => {
    const workers = new HeldWorkers(1);
    const scheduler = new Scheduler(workers, 0);
    expect(scheduler.run(searchRequest(1))).toBeInstanceOf(Promise);
    await turn();
    workers.finish();
    await turn();
    // It cost five milliseconds, so the next one must not block the main thread.
    expect(scheduler.run(searchRequest(2))).toBeInstanceOf(Promise);
  });
});

describe("exact searches", () => {
  test("never run on all workers at once, nor in a batch", async () => {
    const workers = new HeldWorkers(3);
    const scheduler = new Scheduler(workers, 0);
    const answers = Array.from({ length: 5 }, (_, i) => scheduler.run(exact(i)));
    await turn();
    expect(sizes(workers)).toEqual([1, 1]);
    expect(scheduler.queued).toBe(3);
    const cheap = scheduler.run(searchRequest(9));
    await turn();
    expect(workers.batches.map(isExact)).toEqual([true, true, false]);
    for (let i = 0; i < 6; i++) {
      workers.finish();
      await turn();
    }
    expect(await cheap).toEqual(answerOf(9));
    expect(await Promise.all(answers)).toEqual(answers.map((_, i) => answerOf(i)));
    expect(scheduler.queued).toBe(0);
  });

  test("let the searches go first that wait for the same worker", async () => {
    const { workers, scheduler } = await cheapRequests(1);
    const first = scheduler.run(exact(1));
    await turn();
    const second = scheduler.run(exact(2));
    const others = [scheduler.run(searchRequest(3)), scheduler.run(searchRequest(4))];
    await turn();
    expect(workers.batches.map(isExact)).toEqual([true]);
    workers.finish();
    await first;
    await turn();
    expect(workers.batches.map(isExact)).toEqual([true, false]);
    expect(sizes(workers)).toEqual([1, 2]);
    workers.finish();
    await Promise.all(others);
    await turn();
    expect(workers.batches.map(isExact)).toEqual([true, false, true]);
    workers.finish();
    expect(await second).toEqual(answerOf(2));
  });

  test("run on a worker however cheap the scope's searches are", async () => {
    const workers = new HeldWorkers(1);
    const scheduler = new Scheduler(workers, 0);
    for (let i = 0; i < 3; i++) {
      expect(scheduler.run(exact(i))).toBeInstanceOf(Promise);
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

describe("searches of projects in memory", () => {
  const loader = { isLoaded: () => true, used() {}, ensureWithin: async () => true };
  const searcherOf = (scheduler: Scheduler) =>
    new Searcher<SearchRequest>(scheduler, loader, (request) => {
      unmeasured.offer(request);
      return true;
    });

  test("exact searches are refused while too many wait, and others are not", async () => {
    const searcher = searcherOf(new Scheduler(new HeldWorkers(1), 0));
    for (let i = 0; i <= SEARCH_EXACT_QUEUE_MAX; i++) {
      void searcher.run(exact(i));
      await turn();
    }
    expect(() => searcher.run(exact(1))).toThrow("more work than it can queue");
    void searcher.run(searchRequest(1));
  });
});

/** A scheduler whose workers report this cost of each request, and the number that ran on them. */
function measuredScheduler(tookMs: number, inlineMs = INLINE_MS, largest = 0) {
  const counter = { onWorkers: 0 };
  const workers: WorkerPool = {
    workers: 1,
    async run(batch) {
      counter.onWorkers += batch.length;
      return batch.map((request): Reply => {
        const reply = run(request);
        if (reply.status !== "answered") return reply;
        const json = largest > 0 ? new Uint8Array(largest) : reply.json;
        return { ...reply, json, work: { ...reply.work, tookMs } } as Reply;
      });
    },
    async close() {},
  };
  return { scheduler: new Scheduler(workers, inlineMs), counter };
}

describe("requests on the main thread", () => {
  test("a lookup of a scope that was never searched runs on a worker", async () => {
    const { scheduler, counter } = measuredScheduler(0.01);
    await scheduler.run(lookupOf("lantern"));
    expect(counter.onWorkers).toBe(1);
  });

  test("a lookup that is known to be cheap is answered at once, with the same page", async () => {
    const { scheduler } = measuredScheduler(0.01);
    const first = await scheduler.run(lookupOf("lantern"));
    await turn();
    const second = scheduler.run(lookupOf("lantern"));
    expect(second).not.toBeInstanceOf(Promise);
    const times = { tookMs: expect.any(Number), waitMs: expect.any(Number) };
    const { json, work: found } = first as Reply & { status: "answered" };
    expect(second).toEqual({ status: "answered", json, work: { ...found, ...times } } as Reply);
  });

  test("a project that has had a large answer is left to the workers, however cheap the next ones are", async () => {
    for (const [bytes, times] of [
      [ANSWER_INLINE_MAX_BYTES, 1],
      [ANSWER_INLINE_MAX_BYTES + 1, 2],
    ] as const) {
      const { scheduler, counter } = measuredScheduler(0.01, INLINE_MS, bytes);
      await scheduler.run(lookupOf("lantern"));
      await turn();
      await scheduler.run(lookupOf("lantern"));
      expect(counter.onWorkers).toBe(times);
    }
  });

  test("an expensive scope, and a long query in a cheap one, run on workers", async () => {
    const { scheduler, counter } = measuredScheduler(0.5);
    await scheduler.run(lookupOf("x".repeat(16)));
    await turn();
    await scheduler.run(lookupOf("x".repeat(500)));
    expect(counter.onWorkers).toBe(2);
  });

  test("cheap browsing does not make queries look cheap", async () => {
    const { scheduler, counter } = measuredScheduler(0.001);
    await scheduler.run(lookupOf(null));
    await turn();
    await scheduler.run(lookupOf("lantern"));
    expect(counter.onWorkers).toBe(2);
  });

  test("searches and lookups of a tenant together spend a bounded time of a turn", async () => {
    const { scheduler, counter } = measuredScheduler(INLINE_MS / 4);
    await scheduler.run(lookupOf("lantern"));
    await turn();
    const startedAt = clock.now;
    let reply: unknown;
    while (!(reply instanceof Promise)) reply = scheduler.run(lookupOf("lantern"));
    expect(clock.now - startedAt).toBeGreaterThan(INLINE_MS / 2);
    expect(clock.now - startedAt).toBeLessThan(2 * INLINE_MS);
    await reply;
    expect(counter.onWorkers).toBe(2);
    await turn();
    expect(scheduler.run(lookupOf("lantern"))).not.toBeInstanceOf(Promise);
  });

  test("a tenant whose requests fill the queue leaves the time on the main thread to another", async () => {
    const workers = new HeldWorkers(1);
    const scheduler = new Scheduler(workers, 100 * INLINE_MS);
    const measured = scheduler.run(lookupOf("lantern"));
    await turn();
    workers.finish();
    await measured;
    await turn();
    // A search is expected to take a millisecond; batches of them wait after those that the worker has.
    const waiting = Array.from({ length: 100 }, (_, i) => scheduler.run(searchRequest(i)));
    expect(scheduler.run(lookupOf("lantern"))).toBeInstanceOf(Promise);
    const lookup = lookupOf("lantern");
    const modest = { ...lookup, scope: { ...lookup.scope, tenant: "modest" } };
    expect(scheduler.run(modest)).not.toBeInstanceOf(Promise);
    // One that waits, because it is expected to take long, does not make its tenant's others wait.
    waiting.push(scheduler.run(ofTenant("modest", 1)));
    expect(waiting.at(-1)).toBeInstanceOf(Promise);
    expect(scheduler.run(modest)).not.toBeInstanceOf(Promise);
    for (const reply of waiting) (reply as Promise<Reply>).catch(() => {});
  });

  test("without time on the main thread every lookup runs on a worker", async () => {
    const { scheduler, counter } = measuredScheduler(0, 0);
    for (let i = 0; i < 3; i++) await scheduler.run(lookupOf("lantern"));
    expect(counter.onWorkers).toBe(3);
  });
});
