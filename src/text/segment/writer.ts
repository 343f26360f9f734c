import {
  CONTENT,
  type FieldWeight,
  HEADINGS,
  keyWeight,
  PART_SHARE,
  PATH,
  SATURATION,
  TITLE,
} from "./field-weights.ts";
import {
  alignUp,
  BREAK,
  checksum,
  elementBytes,
  FIELD,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  MARK,
  PARTS,
  SECTIONS,
  SEGMENT_MAX_DOCUMENTS,
  type SectionName,
  VERSION,
} from "./format.ts";
import { hashBytes } from "./shard.ts";
import { sameStemCircles } from "./stem-groups.ts";

/** A document whose words have provisional term numbers: positions in `StagedDocuments.terms`. */
export interface StagedDocument {
  id: string;
  path: Buffer;
  title: string;
  /** JSON list of {key, value}. */
  frontmatter: string;
  /** Term numbers and marks, as in the segment. */
  words: Uint32Array;
}

export interface StagedDocuments {
  documents: StagedDocument[];
  /** Distinct. */
  terms: string[];
  /** Frontmatter keys, by the number in their field mark. */
  keys: string[];
}

/** Turns staged documents into the one buffer that is a segment. */
export function writeSegment(staged: StagedDocuments): SharedArrayBuffer {
  return finish(writeInSteps(staged));
}

/** Takes all steps at once. */
export function finish<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** As `writeSegment`, in steps of some milliseconds, for a thread that has other things to do. */
export function* writeInSteps(staged: StagedDocuments): Generator<void, SharedArrayBuffer, void> {
  if (staged.documents.length > SEGMENT_MAX_DOCUMENTS) {
    throw new RangeError(`a segment holds at most ${SEGMENT_MAX_DOCUMENTS} documents`);
  }
  const documents = [...staged.documents].sort(
    (a, b) => Buffer.compare(a.path, b.path) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  yield;
  const dictionary = yield* sortTerms(staged.terms);
  const sameStem = sameStemCircles(dictionary.sorted);
  yield;
  const words = yield* joinWords(documents, dictionary.rank);
  const postings = yield* invert(words, documents.length, dictionary.sorted.length, staged.keys);
  const text = joinText(documents, staged.keys);
  yield;
  return assemble(documents.length, dictionary.sorted.length, {
    textStart: text.starts,
    text: text.bytes,
    pathHashes: Uint32Array.from(documents, (document) => hashBytes(document.path)),
    wordStart: words.starts,
    words: words.words,
    termStart: dictionary.starts,
    termChars: dictionary.chars,
    backwards: dictionary.backwards,
    sameStem,
    postingStart: postings.starts,
    postings: postings.postings,
  });
}

/** What a step does until it looks whether there is time for the next. */
export const DOCUMENTS_A_STEP = 64;

type Sections = Record<SectionName, Uint8Array | Uint16Array | Uint32Array>;

function assemble(documents: number, terms: number, sections: Sections): SharedArrayBuffer {
  let length = HEADER_BYTES;
  for (const name of SECTIONS) length = alignUp(length + sections[name].byteLength);
  const buffer = new SharedArrayBuffer(length);
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  let offset = HEADER_BYTES;
  SECTIONS.forEach((name, i) => {
    const section = sections[name];
    const bytes = new Uint8Array(section.buffer, section.byteOffset, section.byteLength);
    new Uint8Array(buffer, offset, section.byteLength).set(bytes);
    header[HEADER.sectionCounts + i] = section.byteLength / elementBytes(name);
    offset = alignUp(offset + section.byteLength);
  });
  header[HEADER.magic] = MAGIC;
  header[HEADER.version] = VERSION;
  header[HEADER.lengthLow] = length >>> 0;
  header[HEADER.lengthHigh] = Math.floor(length / 2 ** 32);
  header[HEADER.bodyChecksum] = checksum(new Uint8Array(buffer, HEADER_BYTES));
  header[HEADER.documents] = documents;
  header[HEADER.terms] = terms;
  header[HEADER.headerChecksum] = checksum(new Uint8Array(buffer, 0, HEADER.headerChecksum * 4));
  return buffer;
}

/** Sorted terms, where each provisional number went, and the order by reversed text. */
function* sortTerms(terms: readonly string[]) {
  const order = terms.map((_, i) => i).sort((a, b) => compare(terms[a], terms[b]));
  const sorted = order.map((i) => terms[i] as string);
  const rank = new Uint32Array(terms.length);
  order.forEach((provisional, final) => {
    rank[provisional] = final;
  });
  const starts = new Uint32Array(sorted.length + 1);
  sorted.forEach((term, i) => {
    starts[i + 1] = (starts[i] as number) + term.length;
  });
  const chars = new Uint16Array(starts[sorted.length] as number);
  sorted.forEach((term, i) => {
    for (let c = 0; c < term.length; c++) chars[(starts[i] as number) + c] = term.charCodeAt(c);
  });
  yield;
  const reversed = sorted.map(reverse);
  const backwards = Uint32Array.from(
    sorted.map((_, i) => i).sort((a, b) => compare(reversed[a], reversed[b])),
  );
  yield;
  return { sorted, rank, starts, chars, backwards };
}

/** By code unit, as the dictionary is searched; the words are opaque here. */
function compare(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
}

/** By code unit, which is what the backward search compares. */
function reverse(term: string): string {
  let reversed = "";
  for (let i = term.length - 1; i >= 0; i--) reversed += term[i];
  return reversed;
}

interface JoinedWords {
  starts: Uint32Array;
  words: Uint32Array;
}

function* joinWords(
  documents: readonly StagedDocument[],
  rank: Uint32Array,
): Generator<void, JoinedWords, void> {
  const starts = new Uint32Array(documents.length + 1);
  documents.forEach((document, i) => {
    starts[i + 1] = (starts[i] as number) + document.words.length;
  });
  const words = new Uint32Array(starts[documents.length] as number);
  let at = 0;
  for (const [d, document] of documents.entries()) {
    if (d % DOCUMENTS_A_STEP === 0) yield;
    for (let i = 0; i < document.words.length; i++) {
      const word = document.words[i] as number;
      words[at++] = word >= MARK ? word : (rank[word] as number);
    }
  }
  return { starts, words };
}

/** Postings by term. The first round counts, the second fills. */
function* invert(joined: JoinedWords, documents: number, terms: number, keys: readonly string[]) {
  const { words } = joined;
  const weights = fieldWeights(keys);
  const starts = new Uint32Array(terms + 1);
  const seen = new Uint32Array(terms);
  for (let d = 0; d < documents; d++) {
    if (d % DOCUMENTS_A_STEP === 0) yield;
    for (let i = joined.starts[d] as number; i < (joined.starts[d + 1] as number); i++) {
      const word = words[i] as number;
      if (word >= MARK || seen[word] === d + 1) continue;
      seen[word] = d + 1;
      starts[word + 1] = (starts[word + 1] as number) + 1;
    }
  }
  for (let t = 0; t < terms; t++) starts[t + 1] = (starts[t + 1] as number) + (starts[t] as number);

  const next = starts.slice(0, terms);
  const postings = new Uint32Array(starts[terms] as number);
  const earned = new Float64Array(terms);
  for (let d = 0; d < documents; d++) {
    if (d % DOCUMENTS_A_STEP === 0) yield;
    const from = joined.starts[d] as number;
    const to = joined.starts[d + 1] as number;
    weighWords(words, from, to, weights, earned);
    for (let i = from; i < to; i++) {
      const word = words[i] as number;
      if (word >= MARK) continue;
      const weight = earned[word] as number;
      if (weight < 0) continue;
      postings[next[word] as number] = ((d << 8) | impactOf(weight)) >>> 0;
      next[word] = (next[word] as number) + 1;
      earned[word] = -1;
    }
    for (let i = from; i < to; i++) {
      const word = words[i] as number;
      if (word < MARK) earned[word] = 0;
    }
  }
  return { starts, postings };
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

/** Adds up, for every word of one document, its counts in the fields by the fields' weights. */
function weighWords(
  words: Uint32Array,
  from: number,
  to: number,
  weights: readonly FieldWeight[],
  earned: Float64Array,
): void {
  let i = from;
  while (i < to) {
    const field = weights[(words[i] as number) - MARK] as FieldWeight;
    const end = endOfField(words, i + 1, to);
    let length = 0;
    for (let k = i + 1; k < end && words[k] !== PARTS; k++) if (words[k] !== BREAK) length++;
    const tempered = 1 - field.lengthEffect + field.lengthEffect * (length / field.pivot);
    let weight = field.boost / tempered;
    for (let k = i + 1; k < end; k++) {
      const word = words[k] as number;
      if (word < MARK) earned[word] = (earned[word] as number) + weight;
      else if (word === PARTS) weight *= PART_SHARE;
    }
    i = end;
  }
}

function endOfField(words: Uint32Array, from: number, to: number): number {
  let end = from;
  while (end < to && ((words[end] as number) < MARK || (words[end] as number) >= PARTS)) end++;
  return end;
}

/** Saturated weight on a scale of 1 to 255: the last occurrences of a word add least. */
function impactOf(weight: number): number {
  return Math.max(1, Math.round((255 * weight) / (SATURATION + weight)));
}

/** All strings of the documents in one block of UTF-8, and where each starts. */
function joinText(documents: readonly StagedDocument[], keys: readonly string[]) {
  const parts: Uint8Array[] = [];
  const starts = new Uint32Array(documents.length * 4 + 2);
  let length = 0;
  let count = 0;
  const push = (bytes: Uint8Array) => {
    parts.push(bytes);
    starts[count++] = length;
    length += bytes.length;
  };
  for (const document of documents) {
    push(document.path);
    push(Buffer.from(document.id));
    push(Buffer.from(document.title));
    push(Buffer.from(document.frontmatter));
  }
  push(Buffer.from(JSON.stringify(keys)));
  starts[count] = length;
  return { starts, bytes: Buffer.concat(parts, length) };
}
