import { type DocumentSet, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT, POSTING_IMPACT_MASK } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import type { Candidate, Plan, PlannedWord } from "./plan.ts";

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
  segment: SegmentReader,
  index: number,
  scope: DocumentSet,
  shard: Shard,
  plan: Plan,
): Scores {
  if (scores.length < segment.documentCount) {
    scores = new Float32Array(segment.documentCount);
    best = new Float32Array(segment.documentCount);
  }
  const matches: number[] = [];
  const admit = (document: number) =>
    hasDocument(scope, document) && inShard(segment.pathHashes[document] as number, shard);
  // Words that decide go first, so that the others know which documents are matches.
  for (const word of plan.words) {
    if (!word.decisive) continue;
    for (const candidate of word.candidates[index] ?? []) {
      addToAll(segment, candidate, admit, matches);
    }
    forgetBest(segment, word, index);
  }
  for (const word of plan.words) {
    if (word.decisive) continue;
    for (const candidate of word.candidates[index] ?? []) {
      addToMatches(segment, candidate, matches);
    }
    for (const document of matches) best[document] = 0;
  }

  const documents = Uint32Array.from(matches);
  const result = new Float32Array(documents.length);
  for (let i = 0; i < documents.length; i++) {
    const document = documents[i] as number;
    result[i] = scores[document] as number;
    scores[document] = 0;
  }
  return { documents, scores: result };
}

/** Adds what a term earns to all documents that hold it and that the search may see. */
function addToAll(
  segment: SegmentReader,
  { term, gain }: Candidate,
  admit: (document: number) => boolean,
  matches: number[],
): void {
  const { postings } = segment;
  const all = scores;
  const scale = gain / POSTING_IMPACT_MASK;
  const to = segment.postingStart[term + 1] as number;
  for (let i = segment.postingStart[term] as number; i < to; i++) {
    const posting = postings[i] as number;
    const document = posting >>> POSTING_DOCUMENT_SHIFT;
    if (all[document] === 0) {
      if (!admit(document)) continue;
      matches.push(document);
    }
    earn(document, scale * (posting & POSTING_IMPACT_MASK));
  }
}

/**
 * Adds what a common term earns to those documents that are matches already. When they are few,
 * they are looked up in the postings instead of reading all of these.
 */
function addToMatches(segment: SegmentReader, { term, gain }: Candidate, matches: number[]): void {
  const { postings } = segment;
  const scale = gain / POSTING_IMPACT_MASK;
  const from = segment.postingStart[term] as number;
  const to = segment.postingStart[term + 1] as number;
  if (matches.length * Math.log2(to - from + 1) < to - from) {
    for (const document of matches) {
      const posting = findPosting(postings, from, to, document);
      if (posting >= 0) earn(document, scale * (posting & POSTING_IMPACT_MASK));
    }
    return;
  }
  for (let i = from; i < to; i++) {
    const posting = postings[i] as number;
    const document = posting >>> POSTING_DOCUMENT_SHIFT;
    if (scores[document] !== 0) earn(document, scale * (posting & POSTING_IMPACT_MASK));
  }
}

/** A document earns by the best of the terms that stand for the word. */
function earn(document: number, earned: number): void {
  const before = best[document] as number;
  if (earned <= before) return;
  scores[document] = (scores[document] as number) + earned - before;
  best[document] = earned;
}

/** The posting of a document, or -1. */
function findPosting(postings: Uint32Array, from: number, to: number, document: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((postings[middle] as number) >>> POSTING_DOCUMENT_SHIFT < document) low = middle + 1;
    else high = middle;
  }
  const posting = low < to ? (postings[low] as number) : -1;
  return posting >= 0 && posting >>> POSTING_DOCUMENT_SHIFT === document ? posting : -1;
}

/** Clears what documents earned by a word, before the next word is added. */
function forgetBest(segment: SegmentReader, word: PlannedWord, index: number): void {
  const { postings } = segment;
  for (const { term } of word.candidates[index] ?? []) {
    const to = segment.postingStart[term + 1] as number;
    for (let i = segment.postingStart[term] as number; i < to; i++) {
      best[(postings[i] as number) >>> POSTING_DOCUMENT_SHIFT] = 0;
    }
  }
}
