import { FIELD, MARK, PARTS } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Plan } from "./plan.ts";
import { Candidates } from "./rerank.ts";
import type { DocumentAddress, View } from "./types.ts";

/**
 * Names the fields of each document that hold a word of the query, or a term that stands for one,
 * in the order path, title, headings, frontmatter (file order), content.
 */
export function matchedFields(
  view: View,
  plan: Plan,
  addresses: readonly DocumentAddress[],
): string[][] {
  const fields: string[][] = addresses.map(() => []);
  view.segments.forEach((segment, s) => {
    if (!addresses.some((address) => address.segment === s)) return;
    const candidates = new Candidates(segment, s, plan);
    addresses.forEach((address, i) => {
      if (address.segment === s) fields[i] = fieldsOf(segment, address.document, candidates);
    });
    candidates.clear();
  });
  return fields;
}

function fieldsOf(segment: SegmentReader, document: number, candidates: Candidates): string[] {
  const { words } = segment;
  const { wordOf } = candidates;
  const end = segment.wordStart[document + 1] as number;
  const names: string[] = [];
  let field = -1;
  let named = false;
  for (let i = segment.wordStart[document] as number; i < end; i++) {
    const word = words[i] as number;
    if (word >= MARK) {
      // Marks within a field do not end it.
      if (word >= PARTS) continue;
      field = word - MARK;
      named = false;
    } else if (!named && wordOf[word] !== 0) {
      names.push(fieldName(segment, field));
      named = true;
      // The content comes last, and it is the longest by far.
      if (field === FIELD.content) break;
    }
  }
  return [...new Set(names)];
}

function fieldName(segment: SegmentReader, field: number): string {
  if (field === FIELD.path) return "path";
  if (field === FIELD.title) return "title";
  if (field === FIELD.headings) return "headings";
  if (field === FIELD.content) return "content";
  return `frontmatter.${segment.keys[field - FIELD.firstKey] ?? ""}`;
}
