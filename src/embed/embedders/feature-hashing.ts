import { EMBED_DEFAULT_DIMENSION } from "../../domain/limits.ts";
import { ENGLISH, stem, tokenize } from "../../index/segments/index.ts";

/**
 * Embeds a text by feature hashing: deterministic, for demonstrations, without a model or network.
 *
 * The features are words, their stems, bigrams and character trigrams. Each is hashed (FNV-1a) to a
 * coordinate and a sign, and its weight is added there. The weight grows with the logarithm of the
 * feature's frequency. Texts are close if they share words or parts of words. The embedding knows
 * nothing about meaning: "car" and "automobile" are unrelated.
 *
 * @param dimension number of elements, at least 1
 * @returns a unit vector, also for text without words
 */
export function embed(text: string, dimension = EMBED_DEFAULT_DIMENSION): Float32Array {
  const vector = new Float32Array(dimension);
  addFeatures(vector, text);
  return normalise(vector, text);
}

/**
 * Embeds a chunk of a document together with the heading directly above it. The heading has the
 * larger share: a query that repeats it has a cosine similarity of about 0.8 with the chunk, which is
 * above the default threshold of a search.
 */
export function embedPassage(
  headings: readonly string[],
  content: string,
  dimension = EMBED_DEFAULT_DIMENSION,
): Float32Array {
  const heading = headings.at(-1);
  const body = embed(content, dimension);
  if (heading === undefined) return body;
  const head = embed(heading, dimension);
  const sum = new Float32Array(dimension);
  for (let i = 0; i < dimension; i++) {
    sum[i] = HEADING_SHARE * (head[i] as number) + BODY_SHARE * (body[i] as number);
  }
  return normalise(sum, content);
}

const HEADING_SHARE = 0.8;
const BODY_SHARE = 0.6;

const WORD_WEIGHT = 1;
const STEM_WEIGHT = 0.7;
const BIGRAM_WEIGHT = 0.4;
const TRIGRAM_WEIGHT = 0.25;
/** The weight of stop words relative to other words. */
const STOP_WORD_SHARE = 0.15;
const STOP_WORDS = new Set(
  (
    "a an and are as at be but by can for from has have how if in into is it its may no not of on " +
    "or so than that the their then there these they this to was what when where which while who " +
    "why will with you your"
  ).split(" "),
);

/** Words whose features are kept for the texts that follow, which mostly have the same ones. */
const WORDS_KEPT_MAX = 20_000;
/** Features of a text for which the table is kept, too. */
const FEATURES_KEPT_MAX = 32_768;

/** The hashes of the features of a word. */
interface Word {
  readonly word: number;
  readonly stem: number;
  readonly trigrams: Int32Array;
  /** The hash of a bigram as far as this word is its first one. */
  readonly bigramBegin: number;
  /** The weight relative to other words. */
  readonly share: number;
}

const words = new Map<string, Word>();

/** The first letter of a feature is its kind: word, stem, bigram or trigram. */
function wordOf(text: string): Word {
  const known = words.get(text);
  if (known !== undefined) return known;
  const padded = `<${text}>`;
  const trigrams = new Int32Array(padded.length - 2);
  for (const i of trigrams.keys()) trigrams[i] = fnv1a(`c${padded.slice(i, i + 3)}`);
  const [word, stemmed] = [fnv1a(`w${text}`), fnv1a(`s${stem(text, ENGLISH)}`)];
  const bigramBegin = hashOn(FNV_OFFSET, `p${text} `);
  const share = STOP_WORDS.has(text) ? STOP_WORD_SHARE : 1;
  const made = { word, stem: stemmed, trigrams, bigramBegin, share };
  if (words.size >= WORDS_KEPT_MAX) words.clear();
  words.set(text, made);
  return made;
}

/**
 * The frequency of each feature of a text, by hash, with the weight of its last occurrence. A table with open
 * addressing.
 */
class FeatureTable {
  readonly #hashes: Int32Array;
  readonly #counts: Uint32Array;
  readonly #weights: Float64Array;
  /** The slots that are used, in the order of the first occurrences. */
  readonly #used: Uint32Array;
  #size = 0;

  constructor(readonly features: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * features));
    this.#hashes = new Int32Array(slots);
    this.#counts = new Uint32Array(slots);
    this.#weights = new Float64Array(slots);
    this.#used = new Uint32Array(features);
  }

  add(hash: number, weight: number): void {
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    while (this.#counts[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & mask;
    if (this.#counts[slot] === 0) {
      this.#hashes[slot] = hash;
      this.#used[this.#size++] = slot;
    }
    (this.#counts[slot] as number)++;
    this.#weights[slot] = weight;
  }

  /** Adds each feature at its coordinate, and forgets all of them. */
  addTo(vector: Float32Array): void {
    for (let i = 0; i < this.#size; i++) {
      const slot = this.#used[i] as number;
      const hash = this.#hashes[slot] as number;
      const weight = (this.#weights[slot] as number) * (1 + Math.log(this.#counts[slot] as number));
      const at = (hash & 0x7fffffff) % vector.length;
      vector[at] = (vector[at] as number) + (hash >= 0 ? weight : -weight);
      this.#counts[slot] = 0;
    }
    this.#size = 0;
  }
}

let table = new FeatureTable(1_024);

/** A table for a text with at most `features` features. */
function tableFor(features: number): FeatureTable {
  if (features <= table.features) return table;
  const larger = new FeatureTable(features);
  if (features <= FEATURES_KEPT_MAX) table = larger;
  return larger;
}

function addFeatures(vector: Float32Array, text: string): void {
  const tokens = tokenize(text);
  const features = tableFor(tokens.reduce((sum, token) => sum + 3 + token.length, 0));
  let previous: Word | undefined;
  for (const token of tokens) {
    const word = wordOf(token);
    const { share, trigrams } = word;
    features.add(word.word, WORD_WEIGHT * share);
    features.add(word.stem, STEM_WEIGHT * share);
    if (previous !== undefined) {
      features.add(mixed(hashOn(previous.bigramBegin, token)), BIGRAM_WEIGHT * share);
    }
    for (let i = 0; i < trigrams.length; i++) {
      features.add(trigrams[i] as number, TRIGRAM_WEIGHT * share);
    }
    previous = word;
  }
  features.addTo(vector);
}

function normalise(vector: Float32Array, text: string): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square < Number.EPSILON) {
    // Without words, or if the weights cancel out, the text's hash decides the direction.
    vector.fill(0);
    vector[(fnv1a(text) >>> 0) % vector.length] = 1;
    return vector;
  }
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale;
  return vector;
}

const FNV_OFFSET = 0x811c9dc5;

/** FNV-1a over UTF-16 code units, with a final mix that improves the low bits. A signed integer of 32 bits. */
function fnv1a(text: string): number {
  return mixed(hashOn(FNV_OFFSET, text));
}

/** Continues the hash of the preceding text, `begin`, over a text. */
function hashOn(begin: number, text: string): number {
  let hash = begin;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash;
}

function mixed(begin: number): number {
  let hash = begin ^ (begin >>> 15);
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
