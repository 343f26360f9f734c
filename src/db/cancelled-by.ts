import type { Transaction } from "./client.ts";
import { aroundQuery, withEachQuery } from "./outage/guarded-query.ts";

/** The same transaction. Once the signal is aborted, its statement is cancelled and no other begins, so it rolls back. */
export function cancelledBy(tx: Transaction, signal: AbortSignal): Transaction {
  return withEachQuery(tx as never, (query) =>
    aroundQuery(query, () => {
      if (signal.aborted) return new Error("the caller of the transaction has gone");
      const cancel = () => void query.cancel();
      signal.addEventListener("abort", cancel, { once: true });
      return () => signal.removeEventListener("abort", cancel);
    }),
  ) as unknown as Transaction;
}
