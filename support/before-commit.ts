import type { Sql, Transaction } from "../src/db/client.ts";
import { until } from "./until.ts";

/**
 * Starts a request while another transaction has made a change and not yet committed it, and commits once the
 * request waits for a lock of that transaction. A request that waits for none is answered before the commit.
 */
export async function beforeCommit<T>(
  sql: Sql,
  change: (tx: Transaction) => Promise<unknown>,
  request: () => Promise<T>,
): Promise<T> {
  let answer: Promise<T> | undefined;
  await sql.begin(async (tx) => {
    await change(tx as Transaction);
    const [holder] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    let isAnswered = false;
    answer = request().finally(() => {
      isAnswered = true;
    });
    answer.catch(() => {});
    await until("the request waits for the transaction or is answered", async () => {
      const waiting = await sql`
        SELECT FROM pg_stat_activity WHERE ${holder?.pid as number} = ANY (pg_blocking_pids(pid))`;
      return isAnswered || waiting.count > 0;
    });
  });
  return (await answer) as T;
}
