import { cancelledBy } from "./cancelled-by.ts";
import type { Queryable, Sql, Transaction } from "./client.ts";
import { transaction } from "./transaction.ts";

/** A reservation outlives any copy. */
const RESERVED_SECONDS = 120;

/** The usage that rows add to a project: `bytes` are their `stored_bytes`, negative for deleted rows. */
export interface Charge {
  readonly files?: number;
  readonly bytes: number;
  readonly chunks?: number;
}

/** A row that a statement has written, by `RETURNING` its `stored_bytes`. */
export interface StoredRow {
  readonly stored_bytes: number;
}

/** The bytes of rows. */
export function bytesOf(rows: readonly StoredRow[]): number {
  return rows.reduce((sum, row) => sum + row.stored_bytes, 0);
}

/**
 * Charges a project for the rows that this transaction has written. The commit must follow immediately, because other
 * writers to a project with a quota wait for it. Throws `quota-exceeded`.
 */
export async function charge(
  tx: Queryable,
  projectId: string,
  { files = 0, bytes, chunks = 0 }: Charge,
  isReserved = false,
): Promise<void> {
  if (files === 0 && bytes === 0 && chunks === 0) return;
  await tx`SELECT charge(${projectId}, ${files}, ${bytes}, ${chunks}, ${isReserved})`;
}

/**
 * Counts rows without a comparison with the quota, at any time of a transaction: a key, or embeddings that the service
 * makes of accepted texts. The next charge finds the quota used up.
 */
export async function count(
  tx: Queryable,
  projectId: string,
  { bytes, chunks = 0 }: Charge,
): Promise<void> {
  if (bytes === 0 && chunks === 0) return;
  await tx`INSERT INTO quota_deltas VALUES (${projectId}, 0, ${bytes}, ${chunks})`;
}

/** Compares the limits of the owners of projects that have grown, or have got another owner. Throws `quota-exceeded`. */
export async function checkOwners(tx: Queryable, ...projectIds: string[]): Promise<void> {
  await tx`SELECT check_owners(${projectIds}::uuid[])`;
}

/** The charges of a transaction to several projects. */
export class Charges {
  readonly #charges = new Map<string, Required<Charge>>();
  /** Bytes that the rows of these projects have beside those of the charges. */
  readonly #uncompared = new Map<string, number>();
  /** Projects that get another owner, whose limits they are compared with. */
  readonly #owned = new Set<string>();

  add(projectId: string, { files = 0, bytes, chunks = 0 }: Charge): void {
    const sum = this.#charges.get(projectId) ?? { files: 0, bytes: 0, chunks: 0 };
    this.#charges.set(projectId, {
      files: sum.files + files,
      bytes: sum.bytes + bytes,
      chunks: sum.chunks + chunks,
    });
  }

  /** Takes bytes out of the charge of a project, which are counted without a comparison: embeddings of accepted texts. */
  leaveUncompared(projectId: string, bytes: number): void {
    this.add(projectId, { bytes: -bytes });
    this.#uncompared.set(projectId, (this.#uncompared.get(projectId) ?? 0) + bytes);
  }

  addOwner(projectId: string): void {
    this.#owned.add(projectId);
  }

  addAll(others: Charges): void {
    for (const [projectId, sum] of others.#charges) this.add(projectId, sum);
    for (const [projectId, bytes] of others.#uncompared) {
      this.#uncompared.set(projectId, (this.#uncompared.get(projectId) ?? 0) + bytes);
    }
    for (const projectId of others.#owned) this.addOwner(projectId);
  }

  /** Counts all as `count` does. */
  async count(tx: Queryable): Promise<void> {
    for (const [projectId, sum] of this.#charges) await count(tx, projectId, sum);
    await this.#countUncompared(tx);
  }

  /** Charges each project as `charge` does, in the order of their ids, so that two transactions never wait for each other. */
  async settle(tx: Queryable): Promise<void> {
    await this.#compare(tx);
    await this.#countUncompared(tx);
  }

  /** After a comparison, in one statement, because other writers wait for the commit. */
  async #countUncompared(tx: Queryable): Promise<void> {
    const [projects, bytes] = [[...this.#uncompared.keys()], [...this.#uncompared.values()]];
    if (projects.length === 0) return;
    await tx`
      INSERT INTO quota_deltas SELECT project, 0, bytes, 0
      FROM unnest(${projects}::uuid[], ${bytes}::bigint[]) AS u (project, bytes)`;
  }

  async #compare(tx: Queryable): Promise<void> {
    const inOrder = [...this.#charges].sort(([a], [b]) => (a < b ? -1 : 1));
    const [only, ...others] = inOrder;
    if (only && others.length === 0 && this.#owned.size === 0) return await charge(tx, ...only);
    for (const [projectId, sum] of inOrder) await charge(tx, projectId, sum, true);
    const grown = inOrder.filter(([, sum]) => Math.max(sum.files, sum.bytes, sum.chunks) > 0);
    const compared = new Set([...this.#owned, ...grown.map(([projectId]) => projectId)]);
    if (compared.size > 0) await checkOwners(tx, ...compared);
  }
}

/** A transaction that writes, with its charges. */
export interface Charging {
  readonly sql: Queryable;
  readonly charges: Charges;
}

interface Copy<T> {
  /** The id of the project that is copied; null without one. */
  template(tx: Transaction): Promise<string | null>;
  copy(): Promise<T>;
  /** Aborted when the client has disconnected, which ends the reservation. */
  readonly signal: AbortSignal;
}

/**
 * Reserves the usage of a copy for its owner, and copies the project. The transaction that copies sees the database as
 * of its beginning, so it cannot compare the usage of concurrent transactions. Throws `quota-exceeded`.
 *
 * @param id the id of the copy
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

/** Uses up the reservation, in the transaction that copies. */
export async function useReservation(tx: Transaction, id: string): Promise<void> {
  await tx`SELECT set_config('tessera.is_copy', 'on', true)`;
  await tx`DELETE FROM quota_reservations WHERE project_id = ${id}`;
}
