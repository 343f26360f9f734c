import type { Principal } from "../auth/principal.ts";
import type { Log } from "../ops/observability/log.ts";
import { LogLimiter } from "../ops/observability/log-limiter.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import type { AskedQuestion, QuestionCounts } from "../ops/observability/question-counts.ts";

/** Slow requests of an operation are logged at most this often, the others as a number. */
const SLOW_LOG_INTERVAL_MS = 100;

/** The description of an operation's work, for people who look at slow requests. Never data of callers. */
export type RequestDetail = Readonly<Record<string, string | number>>;

/** Keeps the work that was done for a request, and the question that it asked in words. */
export type Note = (detail: () => RequestDetail, asked?: AskedQuestion) => void;

/** A request to an operation. */
interface RecordedRequest {
  readonly requestId: string;
  readonly operation: { readonly id: string };
  readonly principal?: Pick<Principal, "userId" | "keyId">;
  readonly detail?: () => RequestDetail;
  readonly asked?: AskedQuestion | undefined;
  /** True for a refusal as overloaded, which is slow only because it was held back. */
  readonly refused?: boolean;
}

export interface RecordContext {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Without counts, questions are not counted. */
  readonly questions: { readonly counts: QuestionCounts | undefined };
  readonly config: { readonly slowRequestMs: number };
}

const slow = new LogLimiter(SLOW_LOG_INTERVAL_MS);

/** Notes an answered request in the metrics, its question in the statistics, and both in the log at the level `http` or when it was slow. */
export function recordRequest(
  { metrics, log, questions: { counts }, config: { slowRequestMs } }: RecordContext,
  { requestId, operation: { id: operation }, principal, detail, asked, refused }: RecordedRequest,
  { status, milliseconds }: { readonly status: number; readonly milliseconds: number },
): void {
  metrics.requests.observe({ operation, status }, milliseconds / 1_000);
  if (asked !== undefined) counts?.add(asked.project, asked.text, asked.matches, milliseconds);
  const isSlow = slowRequestMs > 0 && milliseconds >= slowRequestMs && refused !== true;
  if (!isSlow && !log.isLevelEnabled("http")) return;
  const ms = Number(milliseconds.toFixed(3));
  const { userId, keyId } = principal ?? {};
  const line = { requestId, operation, status, userId, keyId, ms };
  log.http(line, "request");
  if (!isSlow) return;
  slow.limited(operation, (suppressed) => {
    const more = suppressed > 0 ? { suppressed } : {};
    log.warn({ ...line, ...detail?.(), ...more }, "slow request");
  });
}
