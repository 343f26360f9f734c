import { useEffect, useState } from "preact/hooks";
import { call } from "../base/api.ts";
import { type Point, pointOf, type Reading, readingOf } from "./metrics.ts";

const INTERVAL_MS = 2_000;
/** Maximum age of a point, relative to the last one. */
export const KEPT_SECONDS = 900;
const MS = 1_000;

interface State {
  readonly points: readonly Point[];
  readonly error: unknown;
}

/** Kept while the console is open, so a visit of another view leaves only a gap. */
let points: readonly Point[] = [];
let last: Reading | undefined;

async function poll(signal: AbortSignal): Promise<void> {
  const { body } = await call<string>("metrics", { signal });
  const reading = readingOf(body, Date.now() / MS);
  // The clock of a computer may be set back.
  if (last !== undefined && reading.at <= last.at) return;
  const point = pointOf(last, reading);
  last = reading;
  points = [...points, point].filter(({ at }) => at >= point.at - KEPT_SECONDS);
}

/** Polls the metrics of the answering process while the view is open. */
export function usePoints(): State {
  const [state, setState] = useState<State>({ points, error: undefined });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      let error: unknown;
      try {
        await poll(signal);
      } catch (cause) {
        error = cause;
      }
      if (signal.aborted) return;
      setState({ points, error });
      timer = setTimeout(read, INTERVAL_MS);
    };
    read();
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, []);
  return state;
}
