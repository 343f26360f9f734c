import { documentText, requireDocumentSize } from "../document.ts";
import { RecordError } from "../errors.ts";

/** A page declares its charset within this many bytes, as browsers expect it. */
const DECLARATION_MAX_BYTES = 1_024;
const DECLARATIONS = [
  /^\s*<\?xml[^>]{1,200}encoding\s*=\s*["']([\w.:-]{1,40})/i,
  /<meta[^>]{1,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})/i,
];
/** Byte order marks, which take precedence over a declaration. */
const MARKS: readonly (readonly [charset: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** The text of an HTML page in the charset of its byte order mark or declaration, else in UTF-8. Throws a RecordError. */
export function pageText(bytes: Uint8Array): string {
  const [marked] = MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? [];
  const charset = marked ?? declaredCharset(bytes) ?? "utf-8";
  const decoder = decoderOf(charset);
  if (decoder === undefined) return unknownText(bytes, charset);
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  const isNarrow = marked === undefined && decoder.encoding.startsWith("utf-16");
  if (isNarrow || decoder.encoding === "utf-8") return documentText(bytes);
  requireDocumentSize(bytes.length);
  return decoder.decode(bytes);
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARATION_MAX_BYTES)).toString("latin1");
  return DECLARATIONS.map((declaration) => declaration.exec(head)?.[1]).find(Boolean);
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset as Bun.Encoding);
  } catch {
    return undefined;
  }
}

/** The text of a page that declares an unknown charset, if it is UTF-8 all the same. */
function unknownText(bytes: Uint8Array, charset: string): string {
  try {
    return documentText(bytes);
  } catch {
    throw new RecordError(`declares the charset ${charset}, which is unknown: convert it to UTF-8`);
  }
}
