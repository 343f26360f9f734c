import { Problem } from "../problem/problem.ts";

/**
 * An absolute http or https address that every parser reads alike: no user name, no backslash and
 * no white space, which browsers and servers are known to take for different things.
 */
export const REDIRECT_URL_PATTERN =
  "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/?#@]+(?:[/?#][^\\s\\\\]*)?$";

const BARE_ORIGIN = /^https?:\/\/[^\s\\/?#@]+$/i;

/** Scheme, host and port of an address, as `URL.origin` spells them; null when it has none. */
export function originOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { origin } = new URL(address);
  return origin === "null" ? null : origin;
}

/** The origin that an `Origin` header names; null for `null`, lists and anything with a path. */
export function headerOrigin(header: string): string | null {
  return BARE_ORIGIN.test(header) ? originOf(header) : null;
}

/**
 * Refuses an upgrade that was started from elsewhere than the allowed origins. Browsers say where
 * in the `Origin` header; without one the redirect URLs tell. A request with neither passes.
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
