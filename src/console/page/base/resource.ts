import { useCallback, useEffect, useState } from "preact/hooks";
import { call, projectPath } from "./api.ts";

/** A value that is loaded. It stays visible while it is loaded again. */
export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
}

interface State<T> extends Omit<Resource<T>, "reload"> {
  readonly key: string | undefined;
}

/**
 * Calls `load`, and again when `key` changes. A later load aborts an earlier one, so that an outdated answer is never
 * shown. Without a key, `load` is not called.
 *
 * @param keep true to show the previous value until the value of another key is loaded
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { keep = false } = {},
): Resource<T> {
  const nothing = { value: undefined, error: undefined, loading: false, key: undefined };
  const [state, setState] = useState<State<T>>(nothing);
  const [round, setRound] = useState(0);
  // `load` is not a dependency, because the key identifies its result.
  useEffect(() => {
    if (key === undefined) {
      setState(nothing);
      return;
    }
    const leaving = new AbortController();
    setState((old) => ({
      ...old,
      value: keep || old.key === key ? old.value : undefined,
      error: undefined,
      loading: true,
      key,
    }));
    load(leaving.signal).then(
      (value) => {
        if (!leaving.signal.aborted) setState({ value, error: undefined, loading: false, key });
      },
      (error) => {
        if (!leaving.signal.aborted) setState({ value: undefined, error, loading: false, key });
      },
    );
    return () => leaving.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  // The value of another key is not shown, unless `keep` is true.
  const current = keep || state.key === key;
  return {
    value: current ? state.value : undefined,
    error: current ? state.error : undefined,
    loading: key !== undefined && (state.loading || state.key !== key),
    reload,
  };
}

/** The answer to a GET of a project, or of a resource below it. Without parts, no request is sent. */
export function useOfProject<T>(
  parts: readonly string[] | undefined,
  query: Readonly<Record<string, string | number>> = {},
): Resource<T> {
  return useResource(parts && JSON.stringify([parts, query]), async (signal) => {
    return (await call<T>(projectPath(...(parts ?? [])), { query, signal })).body;
  });
}
