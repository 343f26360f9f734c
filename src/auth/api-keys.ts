import { timingSafeEqual } from "node:crypto";
import type { Sql } from "../db/client.ts";
import { isOutage } from "../db/errors.ts";
import { KEY_LAST_USED_INTERVAL_MS } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { Log } from "../ops/observability/log.ts";
import { LogLimiter } from "../ops/observability/log-limiter.ts";
import { type CacheCounts, TtlCache } from "../ops/ttl-cache.ts";
import { type ParsedKey, parseKey } from "./key-format.ts";
import type { Principal } from "./principal.ts";

const KEY_LAST_USED_FLUSH_MS = 1_000;

interface KeyRow {
  id: string;
  user_id: string;
  project_id: string | null;
  key_hash: Uint8Array;
  scopes: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
}

interface VerifiedKey {
  readonly principal: Principal;
  readonly expiresAt: number;
}

const NO_ACCOUNT: ReadonlySet<string> = new Set();

async function readKey(sql: Sql, parsed: ParsedKey): Promise<VerifiedKey | null> {
  const [row] = await sql<KeyRow[]>`
    SELECT id, user_id, project_id, key_hash, scopes, expires_at, revoked_at
    FROM api_keys WHERE key_prefix = ${parsed.keyPrefix}`;
  if (row === undefined || row.revoked_at !== null) return null;
  if (!timingSafeEqual(row.key_hash, parsed.hash)) return null;
  const principal: Principal = {
    userId: row.user_id,
    identity: null,
    keyId: row.id,
    projectId: row.project_id,
    scopes: row.scopes.length === 0 ? null : new Set(row.scopes),
    account: NO_ACCOUNT,
  };
  return { principal, expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY };
}

/** Verifies API keys and records when they were last used. */
export class ApiKeyVerifier {
  readonly #verified: TtlCache<VerifiedKey | null>;
  /** Full keys by prefix, because notifications contain only the prefix. */
  readonly #byPrefix = new Map<string, string>();
  /** Times of the last recorded uses by key id, oldest first. */
  readonly #recorded = new Map<string, number>();
  /** Uses to write at the next flush, by key id. */
  readonly #pending = new Map<string, Date>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #failures = new LogLimiter();

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    counts: CacheCounts = { hits: 0, misses: 0 },
  ) {
    this.#verified = new TtlCache({ isOutage, counts });
    this.#timer = setInterval(() => void this.flush(), KEY_LAST_USED_FLUSH_MS);
    this.#timer.unref();
  }

  /** The key's principal. Throws `unauthorized` for a malformed, unknown, revoked or expired key. */
  verify(key: string): Principal | Promise<Principal> {
    const found = this.#verified.get(key, () => this.#read(key));
    return found instanceof Promise ? found.then((k) => this.#accept(k)) : this.#accept(found);
  }

  drop(keyPrefix: string): void {
    const key = this.#byPrefix.get(keyPrefix);
    // The key may be loading at this moment; only a full clear keeps it out of the cache.
    if (key === undefined) this.#verified.clear();
    else this.#verified.drop(key);
    this.#byPrefix.delete(keyPrefix);
  }

  clear(): void {
    this.#verified.clear();
    this.#byPrefix.clear();
  }

  expire(): void {
    this.#verified.expire();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Writes the pending uses. A failure only costs precision, so it is logged and not retried. */
  async flush(): Promise<void> {
    this.#dropOldRecords();
    if (this.#pending.size === 0) return;
    const ids = [...this.#pending.keys()];
    // As text, because the client serializes an array of dates as a single date.
    const times = [...this.#pending.values()].map((time) => time.toISOString());
    this.#pending.clear();
    try {
      await this.sql`
        UPDATE api_keys k SET last_used_at = u.at
        FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u (id, at)
        WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`;
    } catch (err) {
      this.#failures.limited("last use", () => {
        this.log.warn({ err }, "could not record the last use of API keys");
      });
    }
  }

  async #read(key: string): Promise<VerifiedKey | null> {
    const parsed = parseKey(key);
    if (parsed === undefined) return null;
    const verified = await readKey(this.sql, parsed);
    if (verified !== null) this.#byPrefix.set(parsed.keyPrefix, key);
    return verified;
  }

  #accept(key: VerifiedKey | null): Principal {
    const now = Date.now();
    if (key === null || now >= key.expiresAt) {
      throw new Problem("unauthorized", { detail: "The API key is not valid." });
    }
    this.#recordUse(key.principal.keyId as string, now);
    return key.principal;
  }

  #recordUse(id: string, now: number): void {
    const recorded = this.#recorded.get(id);
    if (recorded !== undefined && now - recorded < KEY_LAST_USED_INTERVAL_MS) return;
    // Deleting first moves the entry to the end, which keeps the map ordered by age.
    this.#recorded.delete(id);
    this.#recorded.set(id, now);
    this.#pending.set(id, new Date(now));
  }

  /** Deletes records older than the interval, which no longer have an effect. */
  #dropOldRecords(): void {
    const now = Date.now();
    for (const [id, recorded] of this.#recorded) {
      if (now - recorded < KEY_LAST_USED_INTERVAL_MS) return;
      this.#recorded.delete(id);
    }
  }
}
