import { EMBED_DEFAULT_DIMENSION } from "../../shared/limits.ts";
import { ENGLISH, stem, tokenize } from "../../text/index.ts";

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
  for (const [feature, weight] of weighFeatures(text)) {
    const hash = fnv1a(feature);
    const sign = hash >>> 31 === 0 ? 1 : -1;
    const at = (hash & 0x7fffffff) % dimension;
    vector[at] = (vector[at] as number) + sign * weight;
  }
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

/** Feature to weight. The first letter of a feature is its kind: word, stem, bigram or trigram. */
function weighFeatures(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) => {
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
    weights.set(feature, weight);
  };
  let previous: string | null = null;
  for (const word of tokenize(text)) {
    const share = STOP_WORDS.has(word) ? STOP_WORD_SHARE : 1;
    add(`w${word}`, WORD_WEIGHT * share);
    add(`s${stem(word, ENGLISH)}`, STEM_WEIGHT * share);
    if (previous !== null) add(`p${previous} ${word}`, BIGRAM_WEIGHT * share);
    for (const trigram of trigramsOf(word)) add(`c${trigram}`, TRIGRAM_WEIGHT * share);
    previous = word;
  }
  for (const [feature, weight] of weights) {
    weights.set(feature, weight * (1 + Math.log(counts.get(feature) as number)));
  }
  return weights;
}

function trigramsOf(word: string): string[] {
  const padded = `<${word}>`;
  const trigrams: string[] = [];
  for (let i = 0; i + 3 <= padded.length; i++) trigrams.push(padded.slice(i, i + 3));
  return trigrams;
}

function normalise(vector: Float32Array, text: string): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square < Number.EPSILON) {
    // Without words, or if the weights cancel out, the text's hash decides the direction.
    vector.fill(0);
    vector[fnv1a(text) % vector.length] = 1;
    return vector;
  }
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale;
  return vector;
}

/** FNV-1a over UTF-16 code units, with a final mix that improves the low bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return hash >>> 0;
}
