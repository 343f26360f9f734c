/** Maximum length of a block of a document's text. Blocks are stored for snippets. */
const TEXT_BLOCK_MAX_CHARS = 2_048;

/** Higher levels save less than 1%, and building takes 2% longer. */
const COMPRESSION_LEVEL = 1;
const SEPARATOR = /[\s\p{P}]/u;

/**
 * Cuts a text into pieces of at most `TEXT_BLOCK_MAX_CHARS`, after a space or punctuation if possible, so that words
 * are not cut, and never inside a surrogate pair. Takes linear time for any text.
 */
export function* piecesOf(text: string): Generator<string, void, void> {
  let start = 0;
  while (text.length - start > TEXT_BLOCK_MAX_CHARS) {
    const end = pieceEnd(text, start, start + TEXT_BLOCK_MAX_CHARS);
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}

function pieceEnd(text: string, start: number, latest: number): number {
  for (let end = latest; end > start + TEXT_BLOCK_MAX_CHARS / 2; end--) {
    if (SEPARATOR.test(text.charAt(end - 1))) return end;
  }
  const unit = text.charCodeAt(latest - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? latest - 1 : latest;
}

export function compressText(text: string): Uint8Array {
  return Bun.zstdCompressSync(Buffer.from(text), { level: COMPRESSION_LEVEL });
}
