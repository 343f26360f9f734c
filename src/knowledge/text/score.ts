import { inScope } from "./bitset.ts";
import { POSTING_DOCUMENT_SHIFT, POSTING_IMPACT_MASK } from "./format.ts";
import type { Plan, PlannedWord } from "./plan.ts";
import type { OpenSegment } from "./segment.ts";
import { inShard } from "./shard.ts";
import type { Scope, Shard } from "./types.ts";

/** What the documents of one segment that are in scope and shard earn, in no particular order. */
export interface Scores {
  documents: Uint32Array;
  /** Same length and order; all above 0. */
  scores: Float32Array;
}

/**
 * Scratch space of this thread. It is all zero between calls: whoever writes into it clears what he
 * wrote, which is far cheaper than clearing or allocating it as a whole.
 */
let scores = new Float32Array(0);
let best = new Float32Array(0);

/** First pass over one segment: adds up what each document earns, word by word. */
export function scoreSegment(
  segment: OpenSegment,
  index: number,
  scope: Scope,
  shard: Shard,
  plan: Plan,
): Scores {
  if (scores.length < segment.documentCount) {
    scores = new Float32Array(segment.documentCount);
    best = new Float32Array(segment.documentCount);
  }
  const touched: number[] = [];
  const admit = (document: number) =>
    inScope(scope, document) && inShard(segment.pathHashes[document] as number, shard);
  // Words that decide go first, so that the others know which documents are matches.
  for (const word of plan.words) if (word.decisive) addWord(segment, index, word, admit, touched);
  for (const word of plan.words) if (!word.decisive) addWord(segment, index, word, null, touched);

  const documents = Uint32Array.from(touched);
  const result = new Float32Array(documents.length);
  for (let i = 0; i < documents.length; i++) {
    const document = documents[i] as number;
    result[i] = scores[document] as number;
    scores[document] = 0;
  }
  return { documents, scores: result };
}

/** A document earns by the best of the terms that stand for the word. */
function addWord(
  segment: OpenSegment,
  index: number,
  word: PlannedWord,
  admit: ((document: number) => boolean) | null,
  touched: number[],
): void {
  const candidates = word.candidates[index] ?? [];
  for (const { term, gain } of candidates) {
    const scale = gain / POSTING_IMPACT_MASK;
    const to = segment.postingStart[term + 1] as number;
    for (let i = segment.postingStart[term] as number; i < to; i++) {
      const posting = segment.postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const score = scores[document] as number;
      if (score === 0) {
        if (admit === null || !admit(document)) continue;
        touched.push(document);
      }
      const earned = scale * (posting & POSTING_IMPACT_MASK);
      const before = best[document] as number;
      if (earned <= before) continue;
      scores[document] = score + earned - before;
      best[document] = earned;
    }
  }
  for (const { term } of candidates) {
    const to = segment.postingStart[term + 1] as number;
    for (let i = segment.postingStart[term] as number; i < to; i++) {
      best[(segment.postings[i] as number) >>> POSTING_DOCUMENT_SHIFT] = 0;
    }
  }
}
