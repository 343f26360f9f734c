import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { transaction } from "../../db/transaction.ts";
import type { Principal } from "../principal.ts";

/** The author of a change, for the audit log. */
export interface Actor {
  readonly via: "http" | "command";
  readonly user_id?: string;
  readonly key_id?: string;
  readonly request_id?: string;
}

/** The details of a change in addition to its row and its actor. */
interface Circumstances {
  /** The user whose invitation the new member has accepted. */
  readonly invited_by?: string;
  /** The public part of the key that the new one replaces. */
  readonly replaces?: string;
}

/** A person with access to the database, through the command line. */
export const OPERATOR: Actor = { via: "command" };

/** The caller of an operation. */
export function actorOf({ userId, keyId, isOperator }: Principal, requestId: string): Actor {
  if (isOperator) return OPERATOR;
  const key = keyId === null ? {} : { key_id: keyId };
  return { via: "http", user_id: userId, ...key, request_id: requestId };
}

/**
 * Attributes the changes that follow to an actor: those of this transaction, or those of the session
 * if `lasting`. Triggers copy the actor into the audit log.
 */
export async function actAs(
  sql: Queryable,
  actor: Actor & Circumstances,
  lasting = false,
): Promise<void> {
  await sql`SELECT set_config('tessera.actor', ${JSON.stringify(actor)}, ${!lasting})`;
}

/** Runs `work` as `transaction` does. Its changes are attributed to an actor. */
export async function transactionAs<T>(
  sql: Sql,
  actor: Actor,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return await transaction(sql, async (tx) => {
    await actAs(tx, actor);
    return await work(tx);
  });
}
