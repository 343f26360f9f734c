import { Problem } from "../../domain/problem/problem.ts";

/** JSON Schema has no flag for it. */
const inAnyCase = (words: string) => words.replace(/[a-z]/g, (c) => `[${c.toUpperCase()}${c}]`);

/** Characters that browsers and servers are known to interpret differently: backslashes, white space, controls. */
const UNSAFE = "\\s\\\\\\x00-\\x1f\\x7f";
const AUTHORITY = `(?:[^${UNSAFE}/?#@]*@)?[^${UNSAFE}/?#@]+`;

/**
 * An absolute URI that every parser reads the same way, and that runs no script in a browser which
 * follows it.
 */
export const REDIRECT_URL_PATTERN =
  `^(?!${inAnyCase("(?:javascript|data|vbscript)")}:)` +
  `(?:${inAnyCase("https?")}://${AUTHORITY}(?:[/?#][^${UNSAFE}]*)?` +
  `|(?!${inAnyCase("https?")}:)[A-Za-z][A-Za-z0-9+.-]*:[^${UNSAFE}]+)$`;

const BARE_ORIGIN = /^https?:\/\/[^\s\\/?#@]+$/i;

/** Scheme, host and port of an http or https URL, as `URL.origin` spells them; null for any other. */
export function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { origin, protocol } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? origin : null;
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
