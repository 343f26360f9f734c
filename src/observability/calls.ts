import type { Histogram } from "prom-client";

/** Called once when a call has ended, with its error if it failed. */
type EndCall = (error?: unknown) => void;

/** Measures the calls of a dependency: statements of PostgreSQL, commands of Redis. */
export interface CallObserver {
  /** Notes the start of a call. */
  start(operation: string): EndCall;
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

/** Observes the calls of one system in a histogram of seconds. */
export function observeCalls(
  histogram: Histogram<CallLabel>,
  system: "postgresql" | "redis",
): CallObserver {
  const start = (operation: string): EndCall => {
    const startedAt = performance.now();
    return (error) => {
      const labels = {
        db_system_name: system,
        db_operation_name: operation,
        error_type: error === undefined ? "" : errorTypeOf(error),
      };
      histogram.observe(labels, (performance.now() - startedAt) / 1_000);
    };
  };
  return {
    start,
    async around(operation, work) {
      const end = start(operation);
      try {
        const result = await work();
        end();
        return result;
      } catch (error) {
        end(error);
        throw error;
      }
    },
  };
}
