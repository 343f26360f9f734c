import { isUtf8 } from "node:buffer";
import { parseJson } from "../../shared/json/parse.ts";
import { readFilter } from "../scopes/filter.ts";

/** A filter that was cut out of a body. */
interface FilterMember {
  /** As canonical JSON text. */
  readonly filter: string;
  /** Puts it back into the body, whose bytes may have moved. */
  restore(body: Uint8Array): void;
}

const KEY = Buffer.from('"filter"');
const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  open: 0x7b,
  close: 0x7d,
  escape: 0x5c,
} as const;
const SPACE = 0x20;
/** Other members before or after the filter, in bytes; where there are more, the whole body is parsed. */
const OTHERS_MAX_BYTES = 512;

const isSpace = (byte: number | undefined) =>
  byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;

function skipSpace(body: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while (isSpace(body[at])) at += step;
  return at;
}

/** The end of the object that begins here; -1 without one. */
function endOfObject(body: Buffer, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < body.length; at++) {
    const byte = body[at];
    if (inString && byte === CODE.escape) at++;
    else if (byte === CODE.quote) inString = !inString;
    else if (inString) continue;
    else if (byte === CODE.open) depth++;
    else if (byte === CODE.close && --depth === 0) return at + 1;
  }
  return -1;
}

/** True if a piece of the body has one brace and no other, so that nothing is nested in it. */
function isFlat(piece: Buffer, brace: "{" | "}"): boolean {
  if (piece.length > OTHERS_MAX_BYTES) return false;
  return piece.toString("latin1").replace(/[^[\]{}]/g, "") === brace;
}

/**
 * Cuts the filter out of a JSON body by overwriting it with spaces, so that the rest is left to the simple
 * parser of the engine. Undefined, and nothing is changed, unless the body has one valid filter that is
 * certainly a member of the outermost object, and no other text that looks like one.
 */
export function cutFilter(bytes: Uint8Array<ArrayBuffer>): FilterMember | undefined {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const key = body.indexOf(KEY);
  if (key < 0 || body.indexOf(KEY, key + 1) >= 0) return undefined;
  const colon = skipSpace(body, key + KEY.length, 1);
  const start = skipSpace(body, colon + 1, 1);
  if (body[colon] !== CODE.colon || body[start] !== CODE.open) return undefined;
  const end = endOfObject(body, start);
  if (end < 0) return undefined;
  if (!isFlat(body.subarray(end), "}") && !isFlat(body.subarray(0, key), "{")) return undefined;
  const filter = filterIn(body.subarray(start, end));
  // One of the commas around the member goes with it.
  const after = skipSpace(body, end, 1);
  const before = skipSpace(body, key - 1, -1);
  const isFollowed = body[after] === CODE.comma;
  // Another member must be on the comma's other side: without one, the body is invalid and has to stay so.
  const hasOther = isFollowed
    ? body[skipSpace(body, after + 1, 1)] === CODE.quote
    : body[before] === CODE.comma && body[skipSpace(body, before - 1, -1)] !== CODE.open;
  if (filter === undefined || !hasOther) return undefined;
  const [from, to] = isFollowed ? [key, after + 1] : [before, end];
  const member = Buffer.from(body.subarray(from, to));
  body.fill(SPACE, from, to);
  return { filter, restore: (moved) => moved.set(member, from) };
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
