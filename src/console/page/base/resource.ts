import { useCallback, useEffect, useState } from "preact/hooks";
import { call, projectPath } from "./api.ts";

/** What is loaded. A value stays visible while it is loaded again. */
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
 * Loads what `key` names, and again when it changes. A later load aborts an earlier one, so that an
 * answer that was overtaken is never shown. Without a key nothing is loaded.
 *
 * @param keep shows the previous value until another key's is there
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { keep = false } = {},
): Resource<T> {
  const nothing = { value: undefined, error: undefined, loading: false, key: undefined };
  const [state, setState] = useState<State<T>>(nothing);
  const [round, setRound] = useState(0);
  // The key names what `load` loads.
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
  // A value of another key belongs to another place, unless it is to be kept.
  const current = keep || state.key === key;
  return {
    value: current ? state.value : undefined,
    error: current ? state.error : undefined,
    loading: key !== undefined && (state.loading || state.key !== key),
    reload,
  };
}

/** What the service answers of a project, or of something below it. Without parts nothing is loaded. */
export function useOfProject<T>(
  parts: readonly string[] | undefined,
  query: Readonly<Record<string, string | number>> = {},
): Resource<T> {
  return useResource(parts && JSON.stringify([parts, query]), async (signal) => {
    return (await call<T>(projectPath(...(parts ?? [])), { query, signal })).body;
  });
}
