import { entityTag, isCurrent } from "../http/conditional.ts";

/**
 * Names the answer to a query of a frozen release: the same query of the same release has the same
 * results for ever. It is made from the request alone, so every node names it alike.
 */
export function searchTag(scopeId: string, request: string, body: Uint8Array<ArrayBuffer>): string {
  return entityTag(`${scopeId} ${request} ${entityTag(body)}`);
}

/** Names an answer that may be another one tomorrow: after its own bytes. */
export const answerTag = entityTag;

/** True when the caller has the answer. `*` names none: the body may not even be a valid query. */
export function hasAnswer(ifNoneMatch: string | null, tag: string): boolean {
  return ifNoneMatch?.trim() !== "*" && isCurrent(ifNoneMatch, tag);
}
