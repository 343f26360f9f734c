import { DOCUMENT_MAX_BYTES } from "../domain/limits.ts";
import { RecordError } from "./errors.ts";
import { isMarkdownPath, readFrontmatter } from "./markdown/index.ts";

/** Leaves out a byte order mark, which does not belong to the text. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const BYTE_ORDER_MARK = "\ufeff";

/**
 * The text of a document, whichever way its bytes came in. Throws a RecordError if it is too large or is not text in
 * UTF-8, with the position.
 */
export function documentText(bytes: Uint8Array): string {
  requireDocumentSize(bytes.length);
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    throw new RecordError(`is not text: it contains NUL bytes, the first at byte ${nul}`);
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new RecordError(`is not valid UTF-8 at byte ${invalidByte(bytes)}`);
  }
}

/** Throws a RecordError if a document has more bytes of UTF-8 than one may have, whichever way it comes in. */
export function requireDocumentSize(bytes: number): void {
  if (bytes <= DOCUMENT_MAX_BYTES) return;
  throw new RecordError(
    `has more than ${DOCUMENT_MAX_BYTES} bytes of text: split it into several files`,
  );
}

/** The text of a document that came in as a text, such as a member of a record. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** A warning for the writer of a stored document; null without one. */
export function documentWarning(path: string, text: string | null): string | null {
  if (text === null || !isMarkdownPath(path)) return null;
  const { warning } = readFrontmatter(text);
  return warning === null ? null : `${warning}; imported as text`;
}

/** The position of the first byte that is not valid UTF-8, from 0. */
export function invalidByte(bytes: Uint8Array): number {
  const replaced = Buffer.from(Buffer.from(bytes).toString());
  return bytes.findIndex((byte, at) => byte !== replaced[at]);
}
