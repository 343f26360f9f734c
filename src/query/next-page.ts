import { joined, type OwnedBytes } from "../../native/owned-bytes.ts";
import type { ResponseHeader } from "../http/operation.ts";

const NEXT_PAGE = "X-Next-Page";
const NULL = Buffer.from("null");

/** The header of `nextPageOf`, for the documentation. */
export const nextPageHeader: Readonly<Record<string, ResponseHeader>> = {
  [NEXT_PAGE]: {
    description:
      "`unavailable` if there is a next page, but its cursor cannot be kept at present: `page_info.next` is " +
      "null then, and the same request sent again later has it. Also on the last page that the engine pgvector " +
      "lists of a retrieval, after 10,000 hits. Absent otherwise.",
    extension: true,
  },
};

/** A page of an answer. */
export interface AnsweredPage {
  readonly json: OwnedBytes;
  /**
   * False if there is a next page whose cursor could not be kept, or that is beyond the last hit of the engine's list.
   */
  readonly hasAllCursors: boolean;
}

/** The page without the cursor of the next one. The cursor is random, so it occurs once in the page. */
export function removeCursor(json: Uint8Array<ArrayBuffer>, cursor: string): OwnedBytes {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const quoted = JSON.stringify(cursor);
  const at = bytes.indexOf(quoted);
  if (at < 0) throw new Error("the page does not have the cursor of the next one");
  return joined([bytes.subarray(0, at), NULL, bytes.subarray(at + quoted.length)]);
}

/** The header that says whether a page lacks the cursor of the next one. */
export function nextPageOf({ hasAllCursors }: AnsweredPage): Record<string, string> {
  return hasAllCursors ? {} : { [NEXT_PAGE]: "unavailable" };
}

/** True if an answer lacks the cursor of the next page. */
export function lacksNextPage(headers: Headers): boolean {
  return headers.has(NEXT_PAGE);
}
