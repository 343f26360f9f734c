import { rankText, type TextSegmentMemory } from "../../../native/index.ts";
import { RERANK_DOCUMENTS, RERANK_MAX_WORDS } from "../../shared/limits.ts";
import { CONTENT_FREQUENCIES, FIELD_FREQUENCIES } from "../segment/frequency-code.ts";
import type { Shard } from "../segment/shard.ts";
import { NumberList } from "./number-list.ts";
import type { QueryPlan, TermMatch } from "./plan.ts";
import type { DocumentAddress, View } from "./types.ts";
import * as weights from "./weights.ts";

/** A matching document, as positions in a view. */
export interface Match extends DocumentAddress {
  score: number;
}

interface Ranking {
  /** All matches in the shard. */
  readonly total: number;
  /** Best first; equal scores in byte order of path. The order does not depend on the limit. */
  readonly ranked: Match[];
}

const FREQUENCIES = Float32Array.of(...CONTENT_FREQUENCIES, ...FIELD_FREQUENCIES);

/** The same for all queries. */
const WEIGHTS = [
  weights.K1,
  weights.CONTENT_B,
  weights.PROXIMITY_BONUS,
  weights.PHRASE_BONUS,
  weights.RUN_POWER,
  weights.RUN_POWER_PER_WORD,
  weights.TITLE_START_BONUS,
  weights.TITLE_BONUS,
  weights.HEADING_BONUS,
  weights.FRONTMATTER_BONUS,
  weights.FIT_POWER,
  weights.PROXIMITY_MAX_DISTANCE,
  weights.REVERSED_ORDER_SHARE,
  RERANK_DOCUMENTS,
  RERANK_MAX_WORDS,
];

/** A view never changes, so what is passed of it is made once. */
const memories = new WeakMap<View, readonly TextSegmentMemory[]>();

function memoryOf(view: View): readonly TextSegmentMemory[] {
  let memory = memories.get(view);
  if (memory === undefined) {
    memory = view.segments.map(({ buffer, rankedSections: sections }, s) => {
      return { buffer: new Uint8Array(buffer), sections, documents: view.documentSets[s] ?? null };
    });
    memories.set(view, memory);
  }
  return memory;
}

/** The arrays of the last query of this thread. */
const layout = new NumberList((length) => new Uint32Array(length));
const numbers = new NumberList((length) => new Float64Array(length));

/** Ranks the documents of a view and shard that match a planned query. */
export function rank(view: View, plan: QueryPlan, shard: Shard, limit: number): Ranking {
  const { shardIndex, shardCount } = shard;
  layout.clear();
  numbers.clear();
  for (const weight of WEIGHTS) numbers.push(weight);
  for (const number of [plan.averageLength, plan.maxScore, limit, shardIndex, shardCount]) {
    numbers.push(number);
  }
  writePlan(plan, view.segments.length);
  const found = rankText(memoryOf(view), layout.values(), numbers.values(), FREQUENCIES);
  const ranked: Match[] = [];
  for (let i = 1; i < found.length; i += 3) {
    ranked.push({
      segment: found[i] as number,
      document: found[i + 1] as number,
      score: found[i + 2] as number,
    });
  }
  return { total: found[0] as number, ranked };
}

function writePlan({ words }: QueryPlan, segments: number): void {
  layout.push(words.length);
  for (const word of words) {
    layout.push(word.selective ? 1 : 0);
    numbers.push(word.idf);
    numbers.push(word.weight);
    numbers.push(word.formWeight);
    numbers.push(word.exactWeight);
    numbers.push(word.otherWeight);
  }
  for (let s = 0; s < segments; s++) {
    for (const word of words) {
      const forms = word.forms[s] ?? [];
      const others = word.others[s] ?? [];
      layout.push(forms.length);
      layout.push(others.length);
      writeTerms(forms);
      writeTerms(others);
    }
  }
}

function writeTerms(terms: readonly TermMatch[]): void {
  for (const { term, similarity, coverage } of terms) {
    layout.push(term);
    numbers.push(similarity);
    numbers.push(coverage);
  }
}
