import type { Histogram } from "prom-client";
import { startCall } from "./tracing.ts";

/** Called once when a call has ended, with its error if it failed. */
type EndCall = (error?: unknown) => void;

/** Measures the calls of a dependency: statements of PostgreSQL, commands of Redis. */
export interface CallObserver {
  /** Starts a call. If the call is traced, `text` returns its statement without values. */
  start(operation: string, text?: () => string): EndCall;
  /** Measures work that consists of other calls, such as a transaction. */
  around<T>(operation: string, work: () => Promise<T>): Promise<T>;
}

/** The labels of `db_client_operation_duration_seconds`, by the conventions of OpenTelemetry. */
export const CALL_LABELS = ["db_system_name", "db_operation_name", "error_type"] as const;

type CallLabel = (typeof CALL_LABELS)[number];

/** Codes of PostgreSQL, of the system and of the drivers are short and from closed lists. */
const CODE = /^[0-9A-Z_]{1,40}$/;

/** A name for the kind of an error: its code, or else its class. */
function errorTypeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === "string" && CODE.test(code)) return code;
  return typeof name === "string" ? name : "_OTHER";
}

/** Observes the calls of one system in a histogram of seconds and in spans. */
export function observeCalls(
  histogram: Histogram<CallLabel>,
  system: "postgresql" | "redis",
): CallObserver {
  const begin = (operation: string, text?: () => string) => {
    const startedAt = performance.now();
    const call = startCall(operation, () => ({
      "db.system.name": system,
      "db.operation.name": operation,
      ...(text === undefined ? {} : { "db.query.text": text() }),
    }));
    const end: EndCall = (error) => {
      const errorType = error === undefined ? "" : errorTypeOf(error);
      const labels = {
        db_system_name: system,
        db_operation_name: operation,
        error_type: errorType,
      };
      histogram.observe(labels, (performance.now() - startedAt) / 1_000);
      if (error === undefined) call?.end();
      else call?.end(error, errorType);
    };
    return { call, end };
  };
  return {
    start: (operation, text) => begin(operation, text).end,
    async around(operation, work) {
      const { call, end } = begin(operation);
      try {
        const result = await (call?.run(work) ?? work());
        end();
        return result;
      } catch (error) {
        end(error);
        throw error;
      }
    },
  };
}
