/** What a lookup answers, from simple code that shares nothing with native code but the tokenizer. */
import type { Shard } from "../../../src/index/segments/shard.ts";
import {
  FIELD,
  FIRST_INNER_MARK,
  MARK,
  type SegmentContents,
} from "../../../support/segment-contents.ts";
import { planByReference, type QueryPlan } from "./plan.ts";
import type { Vocabulary } from "./plan-word.ts";
import { rankByReference, tokensOf, wordsOfTerms } from "./ranking.ts";
import { type ReferenceSnippet, snippetByReference } from "./snippet.ts";
import { isMatch } from "./tokens.ts";

interface ReferenceItem {
  readonly path: string;
  readonly score: number;
  /** What is shown of the item. */
  shown(): { matched_fields: readonly string[]; snippet: ReferenceSnippet | null };
}

/** Every match of a view and shard, best first. */
export function lookUpByReference(
  vocabulary: Vocabulary,
  query: string,
  shard: Shard,
): ReferenceItem[] {
  const plan = planByReference(vocabulary, query);
  const ranked = rankByReference(vocabulary.view, plan, shard);
  return ranked.map(({ segment, s, document, path, score }) => ({
    path,
    score,
    shown: () => ({
      matched_fields: fieldsOf(segment, s, document, plan),
      snippet: snippetByReference(segment, s, document, plan),
    }),
  }));
}

const NAMES = new Map<number, string>([
  [FIELD.path, "path"],
  [FIELD.title, "title"],
  [FIELD.headings, "headings"],
  [FIELD.content, "content"],
]);

function fieldsOf(
  segment: SegmentContents,
  s: number,
  document: number,
  plan: QueryPlan,
): string[] {
  const words = wordsOfTerms(s, plan);
  const names = new Set<string>();
  let field: number = FIELD.path;
  const tokens = tokensOf(segment, document);
  tokens.forEach((token, i) => {
    if (token >= MARK && token < FIRST_INNER_MARK) field = token - MARK;
    const match = words.get(token);
    if (match === undefined || !isMatch(tokens.subarray(0, i + 1), match.word, s, plan)) return;
    names.add(NAMES.get(field) ?? `frontmatter.${segment.keys[field - FIELD.firstKey]}`);
  });
  return [...names];
}
