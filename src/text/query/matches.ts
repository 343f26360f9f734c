import { type DocumentSet, hasDocument } from "../segment/document-set.ts";
import { POSTING_DOCUMENT_SHIFT } from "../segment/format.ts";
import type { SegmentReader } from "../segment/reader.ts";
import { inShard, type Shard } from "../segment/shard.ts";
import { kthLargest } from "./top-k.ts";

/** Which matches of a segment have to be ranked. */
export interface Wanted {
  /** Only the best so many matter. */
  readonly best: number;
  /** Matches with a lower score do not matter. */
  readonly least: number;
}

/** The matches in one segment that are in scope and shard. */
export interface SegmentMatches {
  /** The number of all matches. */
  total: number;
  /** At least the matches that are wanted, in no particular order. */
  documents: Uint32Array;
  /** Same length and order as `documents`; all positive. */
  scores: Float32Array;
}

/**
 * Scratch space of this thread, all zero between uses unless stated otherwise. It is as long as the
 * largest segment has documents.
 */
let scratch = allocate(0);

function allocate(documents: number) {
  return {
    scores: new Float32Array(documents),
    /** Once the candidates are known: UNSEEN, MATCH or CANDIDATE. */
    states: new Uint8Array(documents),
    /** The documents with a score. Not cleared. */
    matches: new Uint32Array(documents),
    /** The postings or documents that were picked last. Not cleared. */
    picked: new Uint32Array(documents),
  };
}

const UNSEEN = 0;
/** A document that counts as a match, and cannot be among the best any more. */
const MATCH = 1;
const CANDIDATE = 2;

/** More than the rounding errors of a score, as a share of it. */
const ROUNDING_SHARE = 1e-4;
/** Candidates are looked for again when what is left has shrunk to this share. */
const NARROW_AGAIN_SHARE = 0.7;
/** Reading so many postings costs as much as one step of a bisection. */
const POSTINGS_PER_STEP = 4;

/**
 * The matches of one segment and their scores, while words are added one after another. Once the words
 * that are left cannot lift another document among the best, only the candidates are scored and the
 * other matches are counted (MaxScore). Call `finish` after use.
 */
export class Matches {
  /** Documents with a score. */
  #matches = 0;
  /** Matches that were counted without a score. */
  #counted = 0;
  /** The documents that may still be among the best, ascending; null before that is known. */
  #candidates: Uint32Array | null = null;
  /** Looking for candidates takes time, so it is not tried for every word. */
  #narrowBelow = Number.POSITIVE_INFINITY;
  readonly #acceptsAll: boolean;

  constructor(
    private readonly segment: SegmentReader,
    private readonly set: DocumentSet,
    private readonly shard: Shard,
  ) {
    if (scratch.scores.length < segment.documentCount) scratch = allocate(segment.documentCount);
    this.#acceptsAll = set === null && shard.shardCount <= 1;
  }

  /** Adds to the score of a document that was picked. */
  add(document: number, score: number): void {
    const { scores, matches } = scratch;
    const before = scores[document] as number;
    if (before === 0) matches[this.#matches++] = document;
    scores[document] = before + score;
  }

  /** Finds the candidates if other documents cannot be among the best with `left` more score. */
  narrow(left: number, { best, least }: Wanted): void {
    if (this.#candidates !== null || left > this.#narrowBelow) return;
    const { scores, states, matches, picked } = scratch;
    const kth = this.#matches < best ? 0 : kthLargest(scores, matches, this.#matches, best);
    const needed = Math.max(kth, least) * (1 - ROUNDING_SHARE) - left;
    this.#narrowBelow = left * NARROW_AGAIN_SHARE;
    if (needed <= 0) return;
    let count = 0;
    for (let i = 0; i < this.#matches; i++) {
      const document = matches[i] as number;
      const isCandidate = (scores[document] as number) >= needed;
      states[document] = isCandidate ? CANDIDATE : MATCH;
      if (isCandidate) picked[count++] = document;
    }
    this.#candidates = picked.slice(0, count).sort();
  }

  /** The matches; the scratch space is zero again. */
  finish(): SegmentMatches {
    const { scores, states, matches } = scratch;
    const documents = this.#candidates ?? matches.slice(0, this.#matches);
    const result = new Float32Array(documents.length);
    for (let i = 0; i < documents.length; i++) result[i] = scores[documents[i] as number] as number;
    for (let i = 0; i < this.#matches; i++) scores[matches[i] as number] = 0;
    if (this.#candidates !== null) states.fill(0, 0, this.segment.documentCount);
    return { total: this.#matches + this.#counted, documents, scores: result };
  }

  #isInScope(document: number): boolean {
    if (this.#acceptsAll) return true;
    return (
      hasDocument(this.set, document) &&
      inShard(this.segment.pathHashes[document] as number, this.shard)
    );
  }

  /** The postings of a term that have to be scored. The next call may overwrite them. */
  pick(term: number, selective: boolean): Uint32Array {
    const postings = this.segment.postingsOf(term);
    if (this.#candidates === null) {
      return selective && this.#acceptsAll ? postings : this.#pickMatches(postings, selective);
    }
    if (selective) return this.#pickAndCount(postings);
    const steps = this.#candidates.length * Math.log2(postings.length + 1);
    return steps * POSTINGS_PER_STEP < postings.length
      ? this.#pickByBisection(postings, this.#candidates)
      : this.#pickCandidates(postings);
  }

  #pickMatches(postings: Uint32Array, selective: boolean): Uint32Array {
    const { scores, picked } = scratch;
    let count = 0;
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      if (scores[document] !== 0 || (selective && this.#isInScope(document))) {
        picked[count++] = posting;
      }
    }
    return picked.subarray(0, count);
  }

  /** The postings of candidates. The other documents are counted as matches. */
  #pickAndCount(postings: Uint32Array): Uint32Array {
    const { states, picked } = scratch;
    let count = 0;
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      const document = posting >>> POSTING_DOCUMENT_SHIFT;
      const state = states[document] as number;
      if (state === CANDIDATE) picked[count++] = posting;
      else if (state === UNSEEN && this.#isInScope(document)) {
        states[document] = MATCH;
        this.#counted++;
      }
    }
    return picked.subarray(0, count);
  }

  #pickCandidates(postings: Uint32Array): Uint32Array {
    const { states, picked } = scratch;
    let count = 0;
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] as number;
      if (states[posting >>> POSTING_DOCUMENT_SHIFT] === CANDIDATE) picked[count++] = posting;
    }
    return picked.subarray(0, count);
  }

  #pickByBisection(postings: Uint32Array, candidates: Uint32Array): Uint32Array {
    const { picked } = scratch;
    let count = 0;
    let from = 0;
    for (const candidate of candidates) {
      let to = postings.length;
      while (from < to) {
        const middle = (from + to) >>> 1;
        if ((postings[middle] as number) >>> POSTING_DOCUMENT_SHIFT < candidate) from = middle + 1;
        else to = middle;
      }
      const posting = postings[from];
      if (posting === undefined) break;
      if (posting >>> POSTING_DOCUMENT_SHIFT === candidate) picked[count++] = posting;
    }
    return picked.subarray(0, count);
  }
}
