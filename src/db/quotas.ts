import { cancelledBy } from "./cancelled-by.ts";
import type { Queryable, Sql, Transaction } from "./client.ts";
import { transaction } from "./transaction.ts";

/** A reservation outlives any copy. */
const RESERVED_SECONDS = 120;

/**
 * Lets a transaction store what the service makes of texts that it has accepted, such as embeddings. It is counted, and
 * refused to nobody: the next write finds the quota used up.
 */
export async function countOnly(tx: Queryable): Promise<void> {
  await tx`SELECT set_config('tessera.quota', 'counted', true)`;
}

interface Copy<T> {
  /** The project that is copied, if there is one. */
  template(tx: Transaction): Promise<string | null>;
  copy(): Promise<T>;
  /** Aborted when nobody waits for the copy any more, which ends the reservation. */
  readonly signal: AbortSignal;
}

/**
 * Reserves for an owner what a copy of a project will store, and copies it. The transaction that copies sees the
 * database as of its beginning, so it cannot compare what others store meanwhile. Throws `quota-exceeded`.
 *
 * @param id of the copy
 */
export async function withReservation<T>(
  sql: Sql,
  id: string,
  owner: string,
  { template, copy, signal }: Copy<T>,
): Promise<T> {
  await transaction(sql, async (uncancelled) => {
    const tx = cancelledBy(uncancelled, signal);
    const from = await template(tx);
    if (from !== null)
      await tx`SELECT reserve_quota(${id}, ${owner}, ${from}, ${RESERVED_SECONDS})`;
  });
  try {
    return await copy();
  } catch (error) {
    await sql`DELETE FROM quota_reservations WHERE project_id = ${id}`;
    throw error;
  }
}

/** Uses up what was reserved, in the transaction that copies. */
export async function useReservation(tx: Transaction, id: string): Promise<void> {
  await tx`SELECT set_config('tessera.quota', 'reserved', true)`;
  await tx`DELETE FROM quota_reservations WHERE project_id = ${id}`;
}
