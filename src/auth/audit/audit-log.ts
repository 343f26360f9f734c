import type { Sql } from "../../db/client.ts";
import type { Log } from "../../ops/observability/log.ts";
import { LogLimiter } from "../../ops/observability/log-limiter.ts";
import type { Principal } from "../principal.ts";
import type { Actor } from "./actor.ts";

/** Maximum distinct denials within AUDIT_FLUSH_MS. */
const AUDIT_DENIALS_MAX = 1_000;
const AUDIT_RETENTION_DAYS = 400;
const AUDIT_PRUNE_INTERVAL_MS = 3_600_000;
/** Equal denials within this time are one row. */
const AUDIT_FLUSH_MS = 10_000;

/** A request that was refused because it lacks a valid credential (401) or a right (403). */
interface Denial {
  /** Undefined without a valid credential. */
  readonly principal: Principal | undefined;
  readonly operation: string;
  readonly slug: string;
  readonly detail: string;
  readonly requestId: string;
}

/**
 * Writes the entries that do not belong to a transaction: failed imports and denials. Equal denials within
 * AUDIT_FLUSH_MS are one row with their number and the id of the first request, so that refused requests cannot fill
 * the log.
 */
export class AuditLog {
  readonly #denials = new Map<string, { denial: Denial; count: number }>();
  readonly #timers: ReturnType<typeof setInterval>[];
  readonly #failures = new LogLimiter();
  /** Denials beyond AUDIT_DENIALS_MAX distinct ones, which are only counted. */
  #dropped = 0;

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    flushMs: number = AUDIT_FLUSH_MS,
  ) {
    this.#timers = [
      setInterval(() => void this.flush(), flushMs),
      setInterval(() => void this.#prune(), AUDIT_PRUNE_INTERVAL_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  denied(denial: Denial): void {
    const { principal, operation, slug, detail } = denial;
    const key = [principal?.userId, principal?.keyId, operation, slug, detail].join("\n");
    const earlier = this.#denials.get(key);
    if (earlier !== undefined) earlier.count++;
    else if (this.#denials.size < AUDIT_DENIALS_MAX) this.#denials.set(key, { denial, count: 1 });
    else this.#dropped++;
  }

  /** Notes an import that has failed. A failure to write it is logged. */
  async importFailed(actor: Actor, projectId: string, details: object): Promise<void> {
    await this.#write([{ ...actor, action: "import", project_id: projectId, details }]);
  }

  /** Writes the denials that were noted. */
  async flush(): Promise<void> {
    const rows = [...this.#denials.values()].map(({ denial, count }) => ({
      action: "denied",
      via: "http",
      user_id: denial.principal?.userId ?? null,
      key_id: denial.principal?.keyId ?? null,
      request_id: denial.requestId,
      project_id: denial.principal?.projectId ?? null,
      details: { operation: denial.operation, slug: denial.slug, detail: denial.detail, count },
    }));
    this.#denials.clear();
    if (this.#dropped > 0) {
      rows.push({
        action: "denied",
        via: "http",
        user_id: null,
        key_id: null,
        request_id: "",
        project_id: null,
        details: { operation: "", slug: "", detail: "too many to list", count: this.#dropped },
      });
      this.#dropped = 0;
    }
    if (rows.length > 0) await this.#write(rows);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush();
  }

  async #write(rows: readonly object[]): Promise<void> {
    try {
      await this.sql`
        WITH written AS (
          INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
          SELECT action, via, user_id, key_id, nullif(request_id, ''), project_id, details
          FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) AS r (action text, via text,
            user_id uuid, key_id uuid, request_id text, project_id uuid, details jsonb) RETURNING project_id, stored_bytes)
        INSERT INTO quota_deltas SELECT p.id, 0, sum(w.stored_bytes), 0
        FROM written w JOIN projects p ON p.id = w.project_id GROUP BY p.id`;
    } catch (err) {
      this.#failures.limited("write", () => {
        this.log.error({ err, rows: rows.length }, "could not write to the audit log");
      });
    }
  }

  async #prune(): Promise<void> {
    try {
      await this.sql`
        WITH pruned AS (
          DELETE FROM audit_log WHERE at < now() - make_interval(days => ${AUDIT_RETENTION_DAYS}) RETURNING project_id, stored_bytes)
        INSERT INTO quota_deltas SELECT p.id, 0, -sum(d.stored_bytes), 0
        FROM pruned d JOIN projects p ON p.id = d.project_id GROUP BY p.id`;
    } catch (err) {
      this.#failures.limited("prune", () => {
        this.log.warn({ err }, "could not prune the audit log");
      });
    }
  }
}
