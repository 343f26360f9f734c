import { documentText, requireDocumentSize } from "../records/document.ts";
import { RecordError } from "../records/errors.ts";

/** A page declares its charset within this many bytes, as browsers expect it. */
const DECLARATION_MAX_BYTES = 1_024;
const DECLARATIONS = [
  /^\s*<\?xml[^>]{1,200}encoding\s*=\s*["']([\w.:-]{1,40})/i,
  /<meta[^>]{1,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})/i,
];
/** A declaration that can be read byte by byte is in none of these, whatever it says. */
const WIDE = /^utf-?(?:8|16|32)/i;

/** The text of an HTML page in the charset that it declares, else in UTF-8. Throws a RecordError. */
export function pageText(bytes: Uint8Array): string {
  const charset = declaredCharset(bytes);
  if (charset === undefined || WIDE.test(charset)) return documentText(bytes);
  requireDocumentSize(bytes.length);
  return decoderOf(charset).decode(bytes);
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARATION_MAX_BYTES)).toString("latin1");
  return DECLARATIONS.map((declaration) => declaration.exec(head)?.[1]).find(Boolean);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset as Bun.Encoding);
  } catch {
    throw new RecordError(`declares the charset ${charset}, which is unknown: convert it to UTF-8`);
  }
}
