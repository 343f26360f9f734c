import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { client, ifAllowed, listed, type Project } from "./service.ts";

/** A value that is loaded. It stays visible while it is loaded again. */
export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** The outcome of a load. */
interface Outcome<T> {
  readonly key: string;
  readonly round: number;
  readonly value?: T;
  readonly error?: unknown;
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
  const [outcome, setOutcome] = useState<Outcome<T>>();
  const [round, setRound] = useState(0);
  // `load` is not a dependency, because the key identifies its result.
  useEffect(() => {
    if (key === undefined) return;
    const leaving = new AbortController();
    const settle = (of: Pick<Outcome<T>, "value" | "error">) => {
      if (!leaving.signal.aborted) setOutcome({ key, round, ...of });
    };
    load(leaving.signal).then(
      (value) => settle({ value }),
      (error) => settle({ error }),
    );
    return () => leaving.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isOfKey = key !== undefined && outcome?.key === key;
  return {
    value: isOfKey || (keep && key !== undefined) ? outcome?.value : undefined,
    error: isOfKey ? outcome.error : undefined,
    loading: key !== undefined && !(isOfKey && outcome.round === round),
    reload,
  };
}

/** A value that is loaded again some time after each answer. */
export function useRefreshed<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  pauseMs: number,
): Resource<T> {
  const resource = useResource(key, load);
  const { loading, reload } = resource;
  useEffect(() => {
    if (loading) return;
    const timer = setTimeout(reload, pauseMs);
    return () => clearTimeout(timer);
  }, [loading]);
  return resource;
}

/**
 * The caller's projects, at most a thousand; empty if the credential may not list them. Addresses lead to further ones.
 */
export function useProjects(): Resource<Project[]> {
  return useResource("projects", (signal) =>
    ifAllowed(listed((page) => client.allProjects(page), signal)),
  );
}

/** An action of the user. It runs once at a time, and its failure is shown. */
export interface Action<A extends unknown[]> {
  readonly run: (...args: A) => Promise<void>;
  readonly running: boolean;
  readonly error: unknown;
}

export function useAction<A extends unknown[]>(act: (...args: A) => Promise<void>): Action<A> {
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const busy = useRef(false);
  const run = async (...args: A) => {
    if (busy.current) return;
    busy.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await act(...args);
    } catch (failed) {
      setError(failed);
    } finally {
      busy.current = false;
      setRunning(false);
    }
  };
  return { run, running, error };
}

/** Calls `act` with the last value after a pause without another one, unless the component is gone. */
export function usePause<T>(act: (value: T) => void, ms: number): (value: T) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (value) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(act, ms, value);
  };
}

interface Page {
  readonly data: readonly unknown[];
  /** `next` is a cursor, or a link with one. */
  readonly page_info: { readonly next: string | null };
}

/** The page that is read: the first one without a cursor. */
export interface PageOptions {
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

/** A list that grows by a page at a time. `value` is its first page. */
export interface Pages<P extends Page> extends Resource<P> {
  readonly items: readonly P["data"][number][];
  /** Adds a page; undefined after the last one. */
  readonly more: Action<[]> | undefined;
}

export const cursorOf = (next: string): string =>
  new URLSearchParams(next.split("?")[1]).get("cursor") ?? next;

export function usePages<P extends Page>(
  key: string | undefined,
  read: (page: PageOptions) => Promise<P>,
  options: { keep?: boolean } = {},
): Pages<P> {
  const first = useResource(key, (signal) => read({ signal }), options);
  const [further, setFurther] = useState<{ after?: P | undefined; pages: readonly P[] }>({
    pages: [],
  });
  // Further pages belong to a first one.
  const own = further.after === first.value ? further.pages : [];
  const pages = first.value === undefined ? [] : [first.value, ...own];
  const next = pages.at(-1)?.page_info.next ?? null;
  const more = useAction(async () => {
    if (next === null) return;
    const page = await read({ cursor: cursorOf(next) });
    setFurther({ after: first.value, pages: [...own, page] });
  });
  const items = pages.flatMap(({ data }) => data);
  return { ...first, items, more: next === null ? undefined : more };
}
