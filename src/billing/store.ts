import type { Sql } from "../db/client.ts";
import type { Session } from "./session.ts";

/** A session that was opened and stored; whether it is still open, only the provider knows. */
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

/** Which upgrade of which account: the key of what is stored. */
export interface UpgradeKey {
  readonly accountId: string;
  readonly fingerprint: Uint8Array;
}

export type BillingStore = ReturnType<typeof createBillingStore>;

/** What is remembered of accounts at the provider. Every statement stands for itself. */
export function createBillingStore(sql: Sql) {
  return {
    async session({ accountId, fingerprint }: UpgradeKey): Promise<StoredSession | null> {
      const [row] = await sql<SessionRow[]>`
        SELECT session_id, url, amount_total, currency, expires_at FROM billing_sessions
        WHERE account_id = ${accountId} AND fingerprint = ${fingerprint}
          AND session_id IS NOT NULL`;
      return row === undefined ? null : storedSession(row);
    },

    /** The account's sessions, the last to expire first. */
    async sessions(accountId: string, limit: number): Promise<StoredSession[]> {
      const rows = await sql<SessionRow[]>`
        SELECT session_id, url, amount_total, currency, expires_at FROM billing_sessions
        WHERE account_id = ${accountId} AND session_id IS NOT NULL
        ORDER BY expires_at DESC, session_id LIMIT ${limit}`;
      return rows.map(storedSession);
    },

    /**
     * The attempt that the caller may make, for `ttlMs`: a new one, or one that somebody has
     * left. Null when somebody else is at it, or has just stored a session.
     */
    async claim({ accountId, fingerprint }: UpgradeKey, ttlMs: number): Promise<string | null> {
      const [row] = await sql<{ attempt: string }[]>`
        INSERT INTO billing_sessions AS s (account_id, fingerprint, attempt, claimed_until)
        VALUES (${accountId}, ${fingerprint}, gen_random_uuid(),
          now() + ${ttlMs} * interval '1 millisecond')
        ON CONFLICT (account_id, fingerprint) DO UPDATE SET claimed_until = excluded.claimed_until
        WHERE s.session_id IS NULL AND (s.claimed_until IS NULL OR s.claimed_until <= now())
        RETURNING attempt`;
      return row?.attempt ?? null;
    },

    /** Lets others continue the attempt at once. */
    async release({ accountId, fingerprint }: UpgradeKey, attempt: string): Promise<void> {
      await sql`
        UPDATE billing_sessions SET claimed_until = NULL
        WHERE account_id = ${accountId} AND fingerprint = ${fingerprint} AND attempt = ${attempt}`;
    },

    /** Ends the attempt without a session: the next one is new. */
    async abandon({ accountId, fingerprint }: UpgradeKey, attempt: string): Promise<void> {
      await sql`
        DELETE FROM billing_sessions
        WHERE account_id = ${accountId} AND fingerprint = ${fingerprint} AND attempt = ${attempt}
          AND session_id IS NULL`;
    },

    /** Stores what the attempt has opened. Of two the first stays; it is what `session` returns. */
    async keep(
      { accountId, fingerprint }: UpgradeKey,
      attempt: string,
      { id, url, due, expiresAt }: Session,
    ): Promise<void> {
      await sql`
        INSERT INTO billing_sessions AS s
          (account_id, fingerprint, attempt, session_id, url, amount_total, currency, expires_at)
        VALUES (${accountId}, ${fingerprint}, ${attempt}, ${id}, ${url},
          ${due?.minor.toString() ?? null}, ${due?.currency ?? null}, ${expiresAt})
        ON CONFLICT (account_id, fingerprint) DO UPDATE SET
          attempt = excluded.attempt, claimed_until = NULL, session_id = excluded.session_id,
          url = excluded.url, amount_total = excluded.amount_total, currency = excluded.currency,
          expires_at = excluded.expires_at
        WHERE s.session_id IS NULL`;
    },

    /** Forgets the session and keeps its attempt, for the next caller to repeat. */
    async doubt({ accountId, fingerprint }: UpgradeKey): Promise<void> {
      await sql`
        UPDATE billing_sessions SET claimed_until = NULL, session_id = NULL, url = NULL,
          amount_total = NULL, currency = NULL, expires_at = NULL
        WHERE account_id = ${accountId} AND fingerprint = ${fingerprint}
          AND session_id IS NOT NULL`;
    },

    /** Forgets a session that is over. */
    async drop(accountId: string, sessionId: string): Promise<void> {
      await sql`
        DELETE FROM billing_sessions
        WHERE account_id = ${accountId} AND session_id = ${sessionId}`;
    },

    async customer(accountId: string): Promise<string | null> {
      const [row] = await sql<{ customer_id: string }[]>`
        SELECT customer_id FROM billing_customers WHERE account_id = ${accountId}`;
      return row?.customer_id ?? null;
    },

    /** The first customer of an account stays, so that it does not end up with several. */
    async noteCustomer(accountId: string, customerId: string): Promise<void> {
      await sql`
        INSERT INTO billing_customers (account_id, customer_id) VALUES (${accountId}, ${customerId})
        ON CONFLICT (account_id) DO NOTHING`;
    },

    async forgetCustomer(accountId: string, customerId: string): Promise<void> {
      await sql`
        DELETE FROM billing_customers
        WHERE account_id = ${accountId} AND customer_id = ${customerId}`;
    },
  };
}
