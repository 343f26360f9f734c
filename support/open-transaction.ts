import { type Sql, type Transaction, withoutDeadlines } from "../src/db/client.ts";
import { onCleanup } from "./cleanup.ts";
import { until } from "./until.ts";

type Work = (tx: Transaction) => Promise<unknown>;

/** A transaction that stays open after `work`, until it does the last work and is committed. */
export async function openTransaction(sql: Sql, work: Work) {
  const working = Promise.withResolvers<number>();
  const ending = Promise.withResolvers<Work>();
  const done = withoutDeadlines(sql).begin(async (tx) => {
    // It stays open for as long as the test takes on a busy machine.
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await work(tx as Transaction);
    working.resolve(row?.pid as number);
    await (await ending.promise)(tx as Transaction);
  });
  done.catch(working.reject);
  const pid = await working.promise;
  const commit = async (last: Work = async () => {}) => {
    ending.resolve(last);
    await done;
  };
  onCleanup(() => commit());
  /** The processes of the sessions that wait for this transaction, at first or second hand. */
  const waiting = () => sql<{ pid: number }[]>`
    WITH RECURSIVE waiting AS (
      SELECT pid FROM pg_stat_activity WHERE ${pid} = ANY (pg_blocking_pids(pid))
      UNION SELECT a.pid FROM pg_stat_activity a, waiting w
        WHERE w.pid = ANY (pg_blocking_pids(a.pid)))
    SELECT pid FROM waiting`;
  /** Waits until this many sessions wait, and returns their process ids. */
  const awaitedBy = async (sessions: number): Promise<number[]> => {
    let pids: number[] = [];
    await until(`${sessions} sessions wait for the open transaction`, async () => {
      pids = (await waiting()).map((row) => row.pid);
      return pids.length >= sessions;
    });
    return pids;
  };
  return { commit, waiting, awaitedBy };
}

/** Locks a table until the transaction is committed: against writes, or against reads as well. */
export const lockTable = (
  sql: Sql,
  table: "runs" | "input_responses" | "chunks",
  mode: "EXCLUSIVE" | "ACCESS EXCLUSIVE" = "EXCLUSIVE",
) => openTransaction(sql, (tx) => tx.unsafe(`LOCK TABLE ${table} IN ${mode} MODE`));

/**
 * Starts a request while another transaction has made a change and not yet committed it, and commits once the
 * request waits for a lock of that transaction. A request that waits for none is answered before the commit.
 */
export async function beforeCommit<T>(
  sql: Sql,
  change: Work,
  request: () => Promise<T>,
): Promise<T> {
  const { commit, waiting } = await openTransaction(sql, change);
  let isAnswered = false;
  const answer = request().finally(() => {
    isAnswered = true;
  });
  answer.catch(() => {});
  await until("the request waits for the transaction or is answered", async () => {
    return isAnswered || (await waiting()).length > 0;
  });
  await commit();
  return await answer;
}
