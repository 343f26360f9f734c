import { useCallback, useRef, useState } from "preact/hooks";

/** An action of the user. It runs once at a time, and its failure is shown. */
export interface Action<A extends unknown[]> {
  readonly run: (...args: A) => Promise<void>;
  readonly running: boolean;
  readonly error: unknown;
  readonly clear: () => void;
}

export function useAction<A extends unknown[]>(act: (...args: A) => Promise<void>): Action<A> {
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const latest = useRef(act);
  latest.current = act;
  const busy = useRef(false);
  const run = useCallback(async (...args: A) => {
    if (busy.current) return;
    busy.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await latest.current(...args);
    } catch (failed) {
      setError(failed);
    } finally {
      busy.current = false;
      setRunning(false);
    }
  }, []);
  return { run, running, error, clear: () => setError(undefined) };
}
