import { useEffect, useState } from "preact/hooks";

/**
 * A place of the console: the segments of its path and its parameters. It is in the fragment of the
 * address, so that reload, back and a copied address keep it, and servers do not log queries.
 */
export interface Route {
  readonly path: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

export type Params = Readonly<Record<string, string | undefined>>;

const CHANGED = "tessera:route";

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const segments = path.split("/").filter((segment) => segment !== "");
  return { path: segments.map(decoded), params: Object.fromEntries(new URLSearchParams(search)) };
}

/** The fragment of a place, to link to. Empty and absent parameters are left out. */
export function hrefOf(path: readonly string[], params: Params = {}): string {
  const given = Object.entries(params).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

/** Goes to a place: as a step of the history, or instead of the current one. */
export function navigate(href: string, { replace = false } = {}): void {
  if (href === location.hash) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  window.dispatchEvent(new Event(CHANGED));
}

/** The current place; components that use it are rendered again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = () => setRoute(parseRoute(location.hash));
    const events = ["popstate", "hashchange", CHANGED];
    for (const name of events) window.addEventListener(name, update);
    return () => {
      for (const name of events) window.removeEventListener(name, update);
    };
  }, []);
  return route;
}

/** Changes some parameters of the current place and keeps the others. */
export function changeParams(change: Params, options: { replace?: boolean } = {}): void {
  const { path, params } = parseRoute(location.hash);
  navigate(hrefOf(path, { ...params, ...change }), options);
}
