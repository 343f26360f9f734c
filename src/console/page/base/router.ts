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

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function routeOf(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const segments = path.split("/").filter((segment) => segment !== "");
  return { path: segments.map(decoded), params: Object.fromEntries(new URLSearchParams(search)) };
}

/** The fragment of a place, to link to. Empty and absent parameters are left out. */
export function hrefOf(path: readonly string[], params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) search.set(name, value);
  return `#/${path.map(encodeURIComponent).join("/")}${search.size === 0 ? "" : `?${search}`}`;
}

/** Goes to a place: as a step of the history, or instead of the current one. */
export function navigate(href: string, { replace = false } = {}): void {
  if (replace) location.replace(href);
  else location.assign(href);
}

/** The current place; components that use it are rendered again when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    window.addEventListener("hashchange", update);
    return () => window.removeEventListener("hashchange", update);
  }, []);
  return routeOf(hash);
}

/** Changes some parameters of the current place and keeps the others. */
export function changeParams(change: Params, options: { replace?: boolean } = {}): void {
  const { path, params } = routeOf(location.hash);
  navigate(hrefOf(path, { ...params, ...change }), options);
}

/** True if a segment names one of the views or parts. */
export const isIn = <T extends object>(parts: T, name: PropertyKey): name is keyof T =>
  Object.hasOwn(parts, name);
