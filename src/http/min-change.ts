import { type TObject, Type } from "@sinclair/typebox";
import type { Principal } from "../auth/principal.ts";
import { CHANGE_WAIT_MAX_MS, CURSOR_MAX_CHARS } from "../domain/limits.ts";
import { extensionHeader, type Operation, type ResponseHeaders } from "./operation.ts";

/** Names a state of the service that has the change which was answered. */
export const CHANGE = "X-Change";
/** Says that an empty answer may lack changes. */
const INDEX_BEHIND = "X-Index-Behind";

const changeHeader = extensionHeader(
  CHANGE,
  "A token of the change. A read with it as `min_change` sees the change, on any server. A later token " +
    "includes all earlier ones. Absent if the database did not answer after the change was stored.",
);

export const indexBehindHeader = extensionHeader(
  INDEX_BEHIND,
  "On an answer that found nothing, while the index lacks a change of the project or has changes to read: " +
    "for how many seconds that has been known. Absent when the answer is complete.",
);

const MinChange = Type.String({
  minLength: 1,
  maxLength: CURSOR_MAX_CHARS,
  description:
    "The `X-Change` of a write: the answer is of a state that has the change. Where an index answers, it is " +
    `waited for, ${CHANGE_WAIT_MAX_MS / 1_000} seconds at most, then the answer is 503 \`index-behind\`. Reads of vectors also ` +
    "wait for those that the project's embedder makes of the change. Lists and files come from the database, " +
    "which has the change already.",
  "x-tessera-extension": true,
});

/** True for an operation that changes something. */
export function isWrite({ method, sheddable }: Operation): boolean {
  return method !== "GET" && sheddable !== true;
}

/** The query parameters of an operation with those that all reads have. */
export function queryOf(operation: Operation): TObject | undefined {
  const { query, permission } = operation;
  // Without a permission nothing is read that anybody can change.
  if (isWrite(operation) || permission === null) return query;
  const own = query ?? Type.Object({});
  const min_change = Type.Optional(MinChange);
  return { ...own, properties: { ...own.properties, min_change } };
}

/** The headers of the successful answers of an operation, with those that all writes have. */
export function headersOf(operation: Operation): ResponseHeaders {
  return { ...operation.responseHeaders, ...(isWrite(operation) ? changeHeader : {}) };
}

/** A read that names a change. */
export interface ChangeWait {
  readonly principal: Principal;
  /** The project, as the caller names it. */
  readonly reference: string;
  readonly token: string;
  readonly reads: Operation["reads"];
  readonly request: Request;
}

/** Gives changes their tokens, and waits for them. */
export interface Changes {
  /** The token of everything that is committed; undefined when the database does not answer. */
  token(): Promise<string | undefined>;
  /**
   * Waits until the index from which a read answers has the change; not for a read of the database. Throws
   * `validation-failed` for a token of another service, `index-behind`, `overloaded`, `project-not-found`.
   */
  wait(read: ChangeWait): Promise<void>;
}

/** The header of an empty answer that may lack a change which has been known for `milliseconds`. */
export function indexBehind(milliseconds: number): Record<string, string> {
  return milliseconds === 0 ? {} : { [INDEX_BEHIND]: (milliseconds / 1_000).toFixed(3) };
}
