import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";

/** A request that has been answered. */
interface AnsweredRequest {
  readonly requestId: string;
  /** The id of the operation. */
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly userId?: string | undefined;
  readonly keyId?: string | null | undefined;
}

/** Notes an answered request in the metrics, and in the log at the level `http`. */
export function recordRequest(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
  { requestId, operation, status, milliseconds, userId, keyId }: AnsweredRequest,
): void {
  metrics.requests.observe({ operation, status }, milliseconds / 1_000);
  if (!log.isLevelEnabled("http")) return;
  const ms = Number(milliseconds.toFixed(3));
  log.http({ requestId, operation, status, ms, userId, keyId }, "request");
}
