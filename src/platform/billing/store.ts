import type { Sql } from "../../db/client.ts";
import type { Session } from "./session.ts";

/** A session that was opened and stored. Only the provider knows whether it is still open. */
export interface StoredSession extends Session {
  readonly url: string;
}

interface SessionRow {
  session_id: string;
  url: string;
  amount_total: string | null;
  currency: string | null;
  expires_at: Date;
}

function storedSession(row: SessionRow): StoredSession {
  const { amount_total, currency } = row;
  return {
    id: row.session_id,
    url: row.url,
    isOpen: true,
    due:
      amount_total === null || currency === null ? null : { minor: BigInt(amount_total), currency },
    customerId: null,
    expiresAt: row.expires_at,
  };
}

/** The key of a stored session: an account, and the fingerprint of its upgrade. */
interface UpgradeKey {
  readonly accountId: string;
  readonly fingerprint: Uint8Array;
}

/** The stored sessions and customers of accounts. No operation needs a transaction. */
export class BillingStore {
  constructor(private readonly sql: Sql) {}

  async session({ accountId, fingerprint }: UpgradeKey): Promise<StoredSession | null> {
    const [row] = await this.sql<SessionRow[]>`
      SELECT session_id, url, amount_total, currency, expires_at FROM billing_sessions
      WHERE account_id = ${accountId} AND fingerprint = ${fingerprint}
        AND session_id IS NOT NULL`;
    return row === undefined ? null : storedSession(row);
  }

  /** The account's sessions, in descending order of expiry. */
  async sessions(accountId: string, limit: number): Promise<StoredSession[]> {
    const rows = await this.sql<SessionRow[]>`
      SELECT session_id, url, amount_total, currency, expires_at FROM billing_sessions
      WHERE account_id = ${accountId} AND session_id IS NOT NULL
      ORDER BY expires_at DESC, session_id LIMIT ${limit}`;
    return rows.map(storedSession);
  }

  /**
   * Claims the next attempt to open a session for `ttlMs`. Returns its id: a new one, or that of
   * an unfinished attempt to repeat. Null while another request holds the claim, or when a
   * session is already stored.
   */
  async claim({ accountId, fingerprint }: UpgradeKey, ttlMs: number): Promise<string | null> {
    const [row] = await this.sql<{ attempt: string }[]>`
      INSERT INTO billing_sessions AS s (account_id, fingerprint, attempt, claimed_until)
      VALUES (${accountId}, ${fingerprint}, gen_random_uuid(),
        now() + ${ttlMs} * interval '1 millisecond')
      ON CONFLICT (account_id, fingerprint) DO UPDATE SET claimed_until = excluded.claimed_until
      WHERE s.session_id IS NULL AND (s.claimed_until IS NULL OR s.claimed_until <= now())
      RETURNING attempt`;
    return row?.attempt ?? null;
  }

  /** Ends the claim, so that others can repeat the attempt at once. */
  async release({ accountId, fingerprint }: UpgradeKey, attempt: string): Promise<void> {
    await this.sql`
      UPDATE billing_sessions SET claimed_until = NULL
      WHERE account_id = ${accountId} AND fingerprint = ${fingerprint} AND attempt = ${attempt}`;
  }

  /** Deletes an attempt that opened no session: the next claim gets a new id. */
  async abandon({ accountId, fingerprint }: UpgradeKey, attempt: string): Promise<void> {
    await this.sql`
      DELETE FROM billing_sessions
      WHERE account_id = ${accountId} AND fingerprint = ${fingerprint} AND attempt = ${attempt}
        AND session_id IS NULL`;
  }

  /** Stores the session that the attempt opened, unless one is stored already. */
  async saveSession(
    { accountId, fingerprint }: UpgradeKey,
    attempt: string,
    { id, url, due, expiresAt }: Session,
  ): Promise<void> {
    await this.sql`
      INSERT INTO billing_sessions AS s
        (account_id, fingerprint, attempt, session_id, url, amount_total, currency, expires_at)
      VALUES (${accountId}, ${fingerprint}, ${attempt}, ${id}, ${url},
        ${due?.minor.toString() ?? null}, ${due?.currency ?? null}, ${expiresAt})
      ON CONFLICT (account_id, fingerprint) DO UPDATE SET
        attempt = excluded.attempt, claimed_until = NULL, session_id = excluded.session_id,
        url = excluded.url, amount_total = excluded.amount_total, currency = excluded.currency,
        expires_at = excluded.expires_at
      WHERE s.session_id IS NULL`;
  }

  /**
   * Deletes a session whose state is unknown, but not its attempt. Repeating the attempt with the
   * same idempotency key returns the same session or the provider's error.
   */
  async resetSession({ accountId, fingerprint }: UpgradeKey): Promise<void> {
    await this.sql`
      UPDATE billing_sessions SET claimed_until = NULL, session_id = NULL, url = NULL,
        amount_total = NULL, currency = NULL, expires_at = NULL
      WHERE account_id = ${accountId} AND fingerprint = ${fingerprint}
        AND session_id IS NOT NULL`;
  }

  /** Deletes a session that is over, with its attempt. */
  async deleteSession(accountId: string, sessionId: string): Promise<void> {
    await this.sql`
      DELETE FROM billing_sessions
      WHERE account_id = ${accountId} AND session_id = ${sessionId}`;
  }

  async customer(accountId: string): Promise<string | null> {
    const [row] = await this.sql<{ customer_id: string }[]>`
      SELECT customer_id FROM billing_customers WHERE account_id = ${accountId}`;
    return row?.customer_id ?? null;
  }

  /** Stores the account's customer. An account keeps its first customer. */
  async saveCustomer(accountId: string, customerId: string): Promise<void> {
    await this.sql`
      INSERT INTO billing_customers (account_id, customer_id) VALUES (${accountId}, ${customerId})
      ON CONFLICT (account_id) DO NOTHING`;
  }

  async deleteCustomer(accountId: string, customerId: string): Promise<void> {
    await this.sql`
      DELETE FROM billing_customers
      WHERE account_id = ${accountId} AND customer_id = ${customerId}`;
  }
}
