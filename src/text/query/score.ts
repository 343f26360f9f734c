import { type DocumentSet, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT, POSTING_IMPACT_MASK } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import type { QueryPlan, QueryWord, TermMatch } from "./plan.ts";

/** The matches in one segment that are in scope and shard, in no particular order. */
interface SegmentScores {
  documents: Uint32Array;
  /** Same length and order as `documents`; all positive. */
  scores: Float32Array;
}

/**
 * Scratch space of this thread, all zero between calls. Each call clears only what it wrote, which
 * is far cheaper than clearing or allocating the whole array.
 */
let scores = new Float32Array(0);
/** What the current word has added to each document's score. */
let wordScores = new Float32Array(0);

/** First pass over one segment: adds up the scores of its documents, word by word. */
export function scoreSegment(
  segment: SegmentReader,
  index: number,
  set: DocumentSet,
  shard: Shard,
  plan: QueryPlan,
): SegmentScores {
  if (scores.length < segment.documentCount) {
    scores = new Float32Array(segment.documentCount);
    wordScores = new Float32Array(segment.documentCount);
  }
  const matches: number[] = [];
  const isVisible = (document: number) =>
    hasDocument(set, document) && inShard(segment.pathHashes[document] as number, shard);
  // Selective words go first: they determine the matches that the others add to.
  for (const word of plan.words) {
    if (!word.selective) continue;
    for (const match of word.terms[index] ?? []) addToAll(segment, match, isVisible, matches);
    clearWordScores(segment, word, index);
  }
  for (const word of plan.words) {
    if (word.selective) continue;
    for (const match of word.terms[index] ?? []) addToMatches(segment, match, matches);
    for (const document of matches) wordScores[document] = 0;
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

/** Adds a term to the scores of all visible documents that hold it. */
function addToAll(
  segment: SegmentReader,
  { term, weight }: TermMatch,
  isVisible: (document: number) => boolean,
  matches: number[],
): void {
  const { postings } = segment;
  const all = scores;
  const scale = weight / POSTING_IMPACT_MASK;
  const to = segment.postingStart[term + 1] as number;
  for (let i = segment.postingStart[term] as number; i < to; i++) {
    const posting = postings[i] as number;
    const document = posting >>> POSTING_DOCUMENT_SHIFT;
    if (all[document] === 0) {
      if (!isVisible(document)) continue;
      matches.push(document);
    }
    addScore(document, scale * (posting & POSTING_IMPACT_MASK));
  }
}

/**
 * Adds a term to the scores of documents that are already matches. If they are few, each one is
 * looked up in the postings; otherwise all postings are read.
 */
function addToMatches(
  segment: SegmentReader,
  { term, weight }: TermMatch,
  matches: number[],
): void {
  const { postings } = segment;
  const scale = weight / POSTING_IMPACT_MASK;
  const from = segment.postingStart[term] as number;
  const to = segment.postingStart[term + 1] as number;
  if (matches.length * Math.log2(to - from + 1) < to - from) {
    for (const document of matches) {
      const posting = findPosting(postings, from, to, document);
      if (posting >= 0) addScore(document, scale * (posting & POSTING_IMPACT_MASK));
    }
    return;
  }
  for (let i = from; i < to; i++) {
    const posting = postings[i] as number;
    const document = posting >>> POSTING_DOCUMENT_SHIFT;
    if (scores[document] !== 0) addScore(document, scale * (posting & POSTING_IMPACT_MASK));
  }
}

/** Only the best of the terms that match a word counts. */
function addScore(document: number, score: number): void {
  const before = wordScores[document] as number;
  if (score <= before) return;
  scores[document] = (scores[document] as number) + score - before;
  wordScores[document] = score;
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

/** Clears what a word added, before the next word is processed. */
function clearWordScores(segment: SegmentReader, word: QueryWord, index: number): void {
  const { postings } = segment;
  for (const { term } of word.terms[index] ?? []) {
    const to = segment.postingStart[term + 1] as number;
    for (let i = segment.postingStart[term] as number; i < to; i++) {
      wordScores[(postings[i] as number) >>> POSTING_DOCUMENT_SHIFT] = 0;
    }
  }
}
