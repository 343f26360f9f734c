import { isUtf8 } from "node:buffer";
import { filterSpan } from "../../../native/index.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { readFilter } from "../scopes/filter.ts";

interface FilterMember {
  /** As canonical JSON text. */
  readonly filter: string;
  /** Where it begins in the body: the engine answers only if the body has no other filter. */
  readonly filterAt: number;
}

const KEY = Buffer.from('"filter"');

/** The filter of a JSON body whose other members the engine parses; undefined for an empty or invalid one. */
export function filterMember(body: Uint8Array<ArrayBuffer>): FilterMember | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // Most bodies have none, and looking for the name is far quicker than going through the members.
  const span = bytes.includes(KEY) ? filterSpan(body) : null;
  if (span === null) return undefined;
  const filter = filterIn(bytes.subarray(span.start, span.end));
  return filter === undefined ? undefined : { filter, filterAt: span.start };
}

/** The filter as canonical text; undefined for an empty or invalid one. */
function filterIn(text: Buffer): string | undefined {
  if (!isUtf8(text)) return undefined;
  try {
    const filter = readFilter(parseJson(text.toString()));
    return typeof filter === "string" ? filter : undefined;
  } catch {
    return undefined;
  }
}
