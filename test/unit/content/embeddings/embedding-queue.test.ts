import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { EmbeddingQueue } from "../../../../src/content/embeddings/queue/embedding-queue.ts";
import type { Sql } from "../../../../src/db/client.ts";
import { createLog } from "../../../../src/ops/observability/log.ts";

/** The pause between two looks at the queue. */
const LOOK_MS = 2_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function look(): Promise<void> {
  jest.advanceTimersByTime(LOOK_MS);
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

test("a thread gets tasks for as long as it embeds texts, also where no file waits beside them", async () => {
  let [waits, isBusy, tasks] = [false, false, 0];
  const query = async () => (waits ? [{}] : []);
  const sql = Object.assign(query, { listen: async () => {} }) as unknown as Sql;
  const thread = {
    hasEnded: false,
    close: async () => {},
    async run() {
      tasks++;
      return { batches: {}, isBusy };
    },
  };
  const options = { databaseUrl: "", embedders: [], logLevel: "silent" } as const;
  const queue = new EmbeddingQueue(
    ...([sql, createLog("silent"), options, () => {}, () => thread] as const),
  );
  await look();
  expect(tasks).toBe(0);
  waits = isBusy = true;
  await look();
  waits = false;
  for (let i = 0; i < 20; i++) await look();
  expect(tasks).toBe(21);
  isBusy = false;
  await look();
  await look();
  expect(tasks).toBe(22);
  await queue.close();
});

test("a thread begins with the sizes of requests that the one before has found out", async () => {
  const query = async () => [{}];
  const sql = Object.assign(query, { listen: async () => {} }) as unknown as Sql;
  const given: unknown[] = [];
  const start: ConstructorParameters<typeof EmbeddingQueue>[4] = ({ batches }) => {
    given.push(batches);
    const run = async () => ({ batches: { model: 10 * given.length }, isBusy: false });
    return { hasEnded: true, close: async () => {}, run };
  };
  const options = { databaseUrl: "", embedders: [], logLevel: "silent" } as const;
  const queue = new EmbeddingQueue(sql, createLog("silent"), options, () => {}, start);
  for (let i = 0; i < 3; i++) await look();
  expect(given).toEqual([{}, { model: 10 }, { model: 20 }]);
  await queue.close();
});
