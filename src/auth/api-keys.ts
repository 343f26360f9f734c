import { timingSafeEqual } from "node:crypto";
import type { Sql } from "../db/client.ts";
import type { Log } from "../observability/log.ts";
import { Problem } from "../problem/problem.ts";
import { KEY_LAST_USED_FLUSH_MS, KEY_LAST_USED_INTERVAL_MS } from "../shared/limits.ts";
import { TimedCache } from "../shared/timed-cache.ts";
import { type ParsedKey, parseKey } from "./key-format.ts";
import type { Principal } from "./principal.ts";

interface KeyRow {
  id: string;
  user_id: string;
  project_id: string | null;
  key_hash: Uint8Array;
  scopes: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
}

interface KnownKey {
  readonly principal: Principal;
  readonly expiresAt: number;
}

const NO_ACCOUNT: ReadonlySet<string> = new Set();

async function readKey(sql: Sql, parsed: ParsedKey): Promise<KnownKey | null> {
  const [row] = await sql<KeyRow[]>`
    SELECT id, user_id, project_id, key_hash, scopes, expires_at, revoked_at
    FROM api_keys WHERE key_prefix = ${parsed.keyPrefix}`;
  if (row === undefined || row.revoked_at !== null) return null;
  if (!timingSafeEqual(row.key_hash, parsed.hash)) return null;
  const principal: Principal = {
    userId: row.user_id,
    email: null,
    name: null,
    keyId: row.id,
    projectId: row.project_id,
    scopes: row.scopes.length === 0 ? null : new Set(row.scopes),
    account: NO_ACCOUNT,
  };
  return { principal, expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY };
}

/** Verifies API keys and notes when they were last used. */
export class ApiKeyVerifier {
  readonly #known = new TimedCache<KnownKey | null>();
  /** Full keys by prefix, so that a notification about a prefix finds what to drop. */
  readonly #byPrefix = new Map<string, string>();
  readonly #noted = new Map<string, number>();
  readonly #pending = new Map<string, Date>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
  ) {
    this.#timer = setInterval(() => void this.flush(), KEY_LAST_USED_FLUSH_MS);
    this.#timer.unref();
  }

  /** The key's principal; throws `unauthorized` when it is malformed, unknown, revoked or expired. */
  verify(key: string): Principal | Promise<Principal> {
    const known = this.#known.get(key, () => this.#read(key));
    return known instanceof Promise ? known.then((k) => this.#accept(k)) : this.#accept(known);
  }

  drop(keyPrefix: string): void {
    const key = this.#byPrefix.get(keyPrefix);
    // The key may be on its way into the cache, where only a full clear reaches it.
    if (key === undefined) this.#known.clear();
    else this.#known.drop(key);
    this.#byPrefix.delete(keyPrefix);
  }

  clear(): void {
    this.#known.clear();
    this.#byPrefix.clear();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Writes the noted uses. A failure only costs precision, so it is logged and forgotten. */
  async flush(): Promise<void> {
    this.#forgetOldUses();
    if (this.#pending.size === 0) return;
    const ids = [...this.#pending.keys()];
    // As text: the client takes an array of dates for a single date.
    const times = [...this.#pending.values()].map((time) => time.toISOString());
    this.#pending.clear();
    try {
      await this.sql`
        UPDATE api_keys k SET last_used_at = u.at
        FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u (id, at)
        WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`;
    } catch (err) {
      this.log.warn({ err }, "the last use of API keys could not be noted");
    }
  }

  async #read(key: string): Promise<KnownKey | null> {
    const parsed = parseKey(key);
    if (parsed === undefined) return null;
    const known = await readKey(this.sql, parsed);
    if (known !== null) this.#byPrefix.set(parsed.keyPrefix, key);
    return known;
  }

  #accept(known: KnownKey | null): Principal {
    const now = Date.now();
    if (known === null || now >= known.expiresAt) {
      throw new Problem("unauthorized", { detail: "The API key is not valid." });
    }
    this.#noteUse(known.principal.keyId as string, now);
    return known.principal;
  }

  #noteUse(id: string, now: number): void {
    const noted = this.#noted.get(id);
    if (noted !== undefined && now - noted < KEY_LAST_USED_INTERVAL_MS) return;
    // Set anew, it moves to the end: the notes stay in the order of their age.
    this.#noted.delete(id);
    this.#noted.set(id, now);
    this.#pending.set(id, new Date(now));
  }

  /** Notes that no longer hold anything back would only fill the memory. */
  #forgetOldUses(): void {
    const now = Date.now();
    for (const [id, noted] of this.#noted) {
      if (now - noted < KEY_LAST_USED_INTERVAL_MS) return;
      this.#noted.delete(id);
    }
  }
}
