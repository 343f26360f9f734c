import { useEffect, useState } from "preact/hooks";
import { call } from "../base/api.ts";

const MS = 1_000;
/** The pause after a failure. */
const RETRY_SECONDS = 5;

export type Values = readonly (number | null)[];

/** What the process that answers measured, a value of each kind for each time. */
export interface History {
  readonly interval_seconds: number;
  /** Seconds since 1970. */
  readonly at: readonly number[];
  readonly requests_per_second: Readonly<
    Record<"search" | "lookup" | "retrieve" | "other", Values>
  >;
  readonly series: Readonly<
    Record<
      | "p50_ms"
      | "p99_ms"
      | "refusals_per_second"
      | "errors_per_second"
      | "rss_bytes"
      | "index_lag_seconds"
      | "recall",
      Values
    >
  >;
}

interface State {
  readonly history: History | undefined;
  readonly error: unknown;
}

/**
 * The last seconds of the process that answers, read again whenever it has a new point. What was read
 * stays while another time is asked for, and when the process does not answer.
 */
export function useHistory(seconds: number): State {
  const [state, setState] = useState<State>({ history: undefined, error: undefined });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      let pause = RETRY_SECONDS;
      try {
        const { body } = await call<History>("metrics/history", { query: { seconds }, signal });
        pause = body.interval_seconds;
        if (!signal.aborted) setState({ history: body, error: undefined });
      } catch (error) {
        if (!signal.aborted) setState(({ history }) => ({ history, error }));
      }
      if (!signal.aborted) timer = setTimeout(read, pause * MS);
    };
    read();
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [seconds]);
  return state;
}
