import { JSON_TYPE } from "./respond.ts";

/** Two seeds make 128 bits: enough that two texts never share a tag by chance. */
const SEEDS = [0n, 0x9e37_79b9_7f4a_7c15n] as const;
const TAGS = /(?:W\/)?("[^"]*")/g;

/** Whoever keeps an answer asks again before using it, and shared caches keep none. */
export const REVALIDATE = "private, no-cache";

/** A strong entity tag of a representation: equal tags mean equal bytes, on every node. */
export function entityTag(text: string | Uint8Array<ArrayBuffer>): string {
  const [left, right] = SEEDS.map((seed) => Bun.hash.xxHash3(text, seed).toString(36));
  return `"${left}-${right}"`;
}

/** True when an If-None-Match header names the tag, or anything at all by `*`. */
export function isCurrent(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  for (const match of ifNoneMatch.matchAll(TAGS)) {
    // RFC 9110 wants the weak comparison here, which ignores the prefix.
    if (match[1] === tag) return true;
  }
  return false;
}

/** Answers with JSON text, or with 304 when the caller has it already. */
export function conditionalJson(request: Request, text: string): Response {
  const etag = entityTag(text);
  const headers: Record<string, string> = { etag, "cache-control": REVALIDATE };
  if (isCurrent(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  headers["content-type"] = JSON_TYPE;
  return new Response(text, { headers });
}
