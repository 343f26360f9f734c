import { entityTag, isCurrent } from "../../http/conditional.ts";

/**
 * The entity tag of a search in a frozen release, where the same query always has the same results.
 * It depends on the request alone, so every node computes the same tag.
 */
export function searchTag(scopeId: string, request: string, body: Uint8Array<ArrayBuffer>): string {
  return entityTag(`${scopeId} ${request} ${entityTag(body)}`);
}

/** The entity tag of an answer that may change, computed from its bytes. */
export const answerTag = entityTag;

/** True when the caller has the answer. `*` does not count: the body may not be a valid query. */
export function hasAnswer(ifNoneMatch: string | null, tag: string): boolean {
  return ifNoneMatch?.trim() !== "*" && isCurrent(ifNoneMatch, tag);
}
