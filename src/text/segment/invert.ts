import {
  CONTENT,
  type FieldWeight,
  HEADINGS,
  JOINED_SHARE,
  keyWeight,
  PATH,
  SUBWORD_SHARE,
  TITLE,
} from "./field-weights.ts";
import {
  BREAK,
  FIELD,
  FIRST_INNER_MARK,
  JOINED,
  MARK,
  POSTING_DOCUMENT_SHIFT,
  SUBWORDS,
} from "./format.ts";
import { frequencyCode } from "./frequency-code.ts";

/** The tokens of all documents. The tokens of document d end at `starts[d + 1]`. */
export interface TokenStreams {
  starts: Uint32Array;
  tokens: Uint32Array;
}

interface Postings {
  starts: Uint32Array;
  postings: Uint32Array;
  /** Length of the content of each document in tokens. */
  lengths: Uint32Array;
}

/** Inverts documents to postings by term. The first pass counts, the second one writes. */
export function invert(
  streams: TokenStreams,
  documents: number,
  terms: number,
  keys: readonly string[],
): Postings {
  const { tokens } = streams;
  const weights = fieldWeights(keys);
  const starts = startPostings(streams, documents, terms);
  const next = starts.slice(0, terms);
  const postings = new Uint32Array(starts[terms] as number);
  const counts = { content: new Float64Array(terms), fields: new Float64Array(terms) };
  const lengths = new Uint32Array(documents);
  for (let d = 0; d < documents; d++) {
    const from = streams.starts[d] as number;
    const to = streams.starts[d + 1] as number;
    lengths[d] = countTokens(tokens, from, to, weights, counts);
    for (let i = from; i < to; i++) {
      const term = tokens[i] as number;
      if (term >= MARK) continue;
      const fields = counts.fields[term] as number;
      if (fields < 0) continue;
      const code = frequencyCode(counts.content[term] as number, fields);
      const posting = ((d << POSTING_DOCUMENT_SHIFT) | code) >>> 0;
      postings[next[term] as number] = posting;
      next[term] = (next[term] as number) + 1;
      counts.fields[term] = -1;
    }
    for (let i = from; i < to; i++) {
      const term = tokens[i] as number;
      if (term >= MARK) continue;
      counts.fields[term] = 0;
      counts.content[term] = 0;
    }
  }
  return { starts, postings, lengths };
}

/** The start of each term's postings, by counting the documents that hold the term. */
function startPostings(
  { starts: tokenStart, tokens }: TokenStreams,
  documents: number,
  terms: number,
): Uint32Array {
  const starts = new Uint32Array(terms + 1);
  const seen = new Uint32Array(terms);
  for (let d = 0; d < documents; d++) {
    for (let i = tokenStart[d] as number; i < (tokenStart[d + 1] as number); i++) {
      const term = tokens[i] as number;
      if (term >= MARK || seen[term] === d + 1) continue;
      seen[term] = d + 1;
      starts[term + 1] = (starts[term + 1] as number) + 1;
    }
  }
  for (let t = 0; t < terms; t++) starts[t + 1] = (starts[t + 1] as number) + (starts[t] as number);
  return starts;
}

function fieldWeights(keys: readonly string[]): FieldWeight[] {
  const weights: FieldWeight[] = [];
  weights[FIELD.path] = PATH;
  weights[FIELD.title] = TITLE;
  weights[FIELD.headings] = HEADINGS;
  weights[FIELD.content] = CONTENT;
  keys.forEach((key, i) => {
    weights[FIELD.firstKey + i] = keyWeight(key);
  });
  return weights;
}

/** Term frequencies of one document by term: in the content, and weighted in the other fields. */
interface Counts {
  readonly content: Float64Array;
  readonly fields: Float64Array;
}

/** Counts the terms of one document. Returns the length of its content in tokens. */
function countTokens(
  tokens: Uint32Array,
  from: number,
  to: number,
  weights: readonly FieldWeight[],
  counts: Counts,
): number {
  let contentLength = 0;
  let i = from;
  while (i < to) {
    const field = weights[(tokens[i] as number) - MARK] as FieldWeight;
    const end = endOfField(tokens, i + 1, to);
    const length = lengthOf(tokens, i + 1, end);
    const isContent = tokens[i] === MARK + FIELD.content;
    if (isContent) contentLength += length;
    const frequencies = isContent ? counts.content : counts.fields;
    const whole = field.boost / (1 - field.b + field.b * (length / field.pivotLength));
    let weight = whole;
    for (let k = i + 1; k < end; k++) {
      const term = tokens[k] as number;
      if (term < MARK) frequencies[term] = (frequencies[term] as number) + weight;
      else if (term === JOINED) weight = whole * JOINED_SHARE;
      else if (term === SUBWORDS) weight = whole * SUBWORD_SHARE;
    }
    i = end;
  }
  return contentLength;
}

/** The length of a field in tokens, without marks, joined spellings and subwords. */
function lengthOf(tokens: Uint32Array, from: number, end: number): number {
  let length = 0;
  for (let k = from; k < end && tokens[k] !== JOINED && tokens[k] !== SUBWORDS; k++) {
    if (tokens[k] !== BREAK) length++;
  }
  return length;
}

function endOfField(tokens: Uint32Array, from: number, to: number): number {
  const isInner = (token: number) => token < MARK || token >= FIRST_INNER_MARK;
  let end = from;
  while (end < to && isInner(tokens[end] as number)) end++;
  return end;
}
