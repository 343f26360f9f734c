import { Problem } from "../problem/problem.ts";

/**
 * An absolute http or https URL that every parser reads the same way: no user name, backslash or
 * white space, which browsers and servers are known to interpret differently.
 */
export const REDIRECT_URL_PATTERN =
  "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/?#@]+(?:[/?#][^\\s\\\\]*)?$";

const BARE_ORIGIN = /^https?:\/\/[^\s\\/?#@]+$/i;

/** Scheme, host and port of a URL, as `URL.origin` spells them; null when it has no origin. */
export function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { origin } = new URL(url);
  return origin === "null" ? null : origin;
}

/** The origin in an `Origin` header; null for `null`, lists and anything with a path. */
export function headerOrigin(header: string): string | null {
  return BARE_ORIGIN.test(header) ? originOf(header) : null;
}

/**
 * Throws `untrusted-billing-origin` unless the upgrade was started from an allowed origin. The
 * `Origin` header decides when it is present, otherwise all redirect URLs must be of allowed
 * origins. A request with neither passes.
 */
export function requireTrustedOrigin(
  allowed: readonly string[],
  header: string | null,
  urls: ReadonlyArray<string | undefined>,
): void {
  const given = urls.filter((url) => url !== undefined);
  const origins = header === null ? given.map(originOf) : [headerOrigin(header)];
  if (origins.every((origin) => origin !== null && allowed.includes(origin))) return;
  throw new Problem("untrusted-billing-origin");
}
