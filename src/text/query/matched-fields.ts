import { FIELD, fieldOfMark, SIGNED } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { MatchingTerms } from "./matching-terms.ts";

/**
 * The names of the fields of a document that hold a term matching the query, in the order path,
 * title, headings, frontmatter (file order), content.
 */
export function matchedFields(
  segment: SegmentReader,
  document: number,
  terms: MatchingTerms,
): string[] {
  const { signedTokens: tokens, tokenStart } = segment;
  const { wordOf } = terms;
  const end = tokenStart[document + 1] as number;
  const names: string[] = [];
  let field = -1;
  let named = false;
  for (let i = tokenStart[document] as number; i < end; i++) {
    const token = tokens[i] as number;
    if (token < 0) {
      // BREAK and SUBWORDS are marks within a field.
      if (token >= SIGNED.subwords) continue;
      field = fieldOfMark(token);
      named = false;
    } else if (!named && wordOf[token] !== 0) {
      const name = fieldName(segment, field);
      if (!names.includes(name)) names.push(name);
      named = true;
      // The content is the last field and by far the longest.
      if (field === FIELD.content) break;
    }
  }
  return names;
}

function fieldName(segment: SegmentReader, field: number): string {
  if (field === FIELD.path) return "path";
  if (field === FIELD.title) return "title";
  if (field === FIELD.headings) return "headings";
  if (field === FIELD.content) return "content";
  return `frontmatter.${segment.keys[field - FIELD.firstKey] ?? ""}`;
}
