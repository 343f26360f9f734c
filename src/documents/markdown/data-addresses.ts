/**
 * An address that contains a whole file, such as an image in base64. Shorter ones may be examples in a text about them.
 */
const DATA_ADDRESS = /\bdata:[\w.+/;=-]{0,128}(?:;base64,[\w+/=%-]{256,}|,[^\s"()<>`]{256,})/g;
/** The remaining part of such an address, with which a link stays a link. */
const SCHEME = "data:";

/** A text without the files in its addresses, which a reader does not see. */
export interface WithoutData {
  readonly text: string;
  /** The offset in the text as it was. Offsets are asked for in ascending order. */
  originalOf(offset: number): number;
}

/** Leaves out the contents of addresses from an offset on. */
export function withoutData(text: string, from = 0): WithoutData {
  if (!text.includes(SCHEME, from)) return { text, originalOf: (offset) => offset };
  const gaps: { readonly at: number; readonly chars: number }[] = [];
  let kept = text.slice(0, from);
  let last = from;
  DATA_ADDRESS.lastIndex = from;
  for (let match = DATA_ADDRESS.exec(text); match !== null; match = DATA_ADDRESS.exec(text)) {
    kept += text.slice(last, match.index + SCHEME.length);
    last = DATA_ADDRESS.lastIndex;
    gaps.push({ at: kept.length, chars: match[0].length - SCHEME.length });
  }
  let next = 0;
  let left = 0;
  const originalOf = (offset: number) => {
    for (let gap = gaps[next]; gap !== undefined && gap.at < offset; gap = gaps[++next]) {
      left += gap.chars;
    }
    return offset + left;
  };
  return { text: kept + text.slice(last), originalOf };
}
