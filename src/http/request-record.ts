import type { Log } from "../observability/log.ts";
import { LogLimiter } from "../observability/log-limiter.ts";
import type { Metrics } from "../observability/metrics.ts";
import { SLOW_LOG_INTERVAL_MS } from "../shared/limits.ts";

/** What an operation says about its work, for the log of slow requests. Never data of callers. */
export type RequestDetail = Readonly<Record<string, string | number>>;

/** A request that has been answered. */
interface AnsweredRequest {
  readonly requestId: string;
  /** The id of the operation. */
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly userId?: string | undefined;
  readonly keyId?: string | null | undefined;
  readonly detail?: (() => RequestDetail) | undefined;
  /** True for a refusal as overloaded, which is slow only because it was held back. */
  readonly refused?: boolean;
}

interface RecordContext {
  readonly metrics: Metrics;
  readonly log: Log;
  readonly config: { readonly slowRequestMs: number };
}

const slow = new LogLimiter(SLOW_LOG_INTERVAL_MS);

/** Notes an answered request in the metrics, and in the log at the level `http` or when it was slow. */
export function recordRequest(
  { metrics, log, config: { slowRequestMs } }: RecordContext,
  { milliseconds, detail, refused, ...request }: AnsweredRequest,
): void {
  const { operation, status } = request;
  metrics.requests.observe({ operation, status }, milliseconds / 1_000);
  const isSlow = slowRequestMs > 0 && milliseconds >= slowRequestMs && refused !== true;
  if (!isSlow && !log.isLevelEnabled("http")) return;
  const ms = Number(milliseconds.toFixed(3));
  const line = { ...request, ms };
  log.http(line, "request");
  if (!isSlow) return;
  slow.limited(operation, (suppressed) => {
    const more = suppressed > 0 ? { suppressed } : {};
    log.warn({ ...line, ...detail?.(), ...more }, "slow request");
  });
}
