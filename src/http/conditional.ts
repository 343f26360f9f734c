import { responseOf } from "./load/large-answers.ts";
import { JSON_TYPE } from "./respond.ts";

/** Two 64-bit hashes with different seeds, so that two texts never share a tag by chance. */
const SEEDS = [0n, 0x9e37_79b9_7f4a_7c15n] as const;
const TAGS = /(?:W\/)?("[^"]*")/g;

/** Private caches must revalidate before every use; shared caches must not store the answer. */
export const REVALIDATE = "private, no-cache";

/** A strong entity tag of a representation: equal tags mean equal bytes, on every node. */
export function entityTag(text: string | Uint8Array<ArrayBuffer>): string {
  const [left, right] = SEEDS.map((seed) => Bun.hash.xxHash3(text, seed).toString(36));
  return `"${left}-${right}"`;
}

/** True when an If-None-Match header contains the tag, or is `*`. */
export function isCurrent(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  for (const match of ifNoneMatch.matchAll(TAGS)) {
    // RFC 9110 requires the weak comparison here, which ignores the prefix W/.
    if (match[1] === tag) return true;
  }
  return false;
}

/**
 * True when an If-Match header allows a change of the resource with this tag; undefined if it does not exist.
 * RFC 9110 requires the strong comparison here, so a weak tag matches nothing.
 */
export function mayChange(ifMatch: string | null, tag: string | undefined): boolean {
  if (ifMatch === null) return true;
  if (tag === undefined) return false;
  return ifMatch.trim() === "*" || ifMatch.split(",").some((given) => given.trim() === tag);
}

/** A response with a text, JSON by default, or 304 when the caller's copy is current. */
export function conditionalText(
  request: Request,
  text: string,
  type: Readonly<Record<string, string>> = { "content-type": JSON_TYPE },
): Response {
  const etag = entityTag(text);
  const headers: Record<string, string> = { etag, "cache-control": REVALIDATE };
  if (isCurrent(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return responseOf(text, { headers: { ...headers, ...type } });
}
