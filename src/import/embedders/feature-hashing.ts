import { EMBED_DEFAULT_DIMENSION } from "../../shared/limits.ts";
import { stem, tokenize } from "../../text/index.ts";

/**
 * A deterministic embedder for demonstrations; it needs no model and no network.
 *
 * Words, their stems, pairs of neighbouring words and the three-letter pieces of words are hashed
 * (FNV-1a) to a coordinate and a sign; their weights add up there, frequent words grow only with
 * the logarithm, and the result has length 1. So two texts are close as far as they share words and
 * pieces of words. It knows nothing of meaning: "car" and "automobile" are strangers to it.
 *
 * @param dimension number of elements, at least 1
 * @returns a unit vector, also for text without any word
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
 * Embeds a piece of a document together with the heading that stands above it. The heading has the
 * larger share, so that a query which repeats it is at a cosine of about 0.8 from the piece and
 * passes the search's default threshold.
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
const PAIR_WEIGHT = 0.4;
const PIECE_WEIGHT = 0.25;
/** Words that say nothing about a text count this much of the others. */
const FILLER_SHARE = 0.15;
const FILLERS = new Set(
  (
    "a an and are as at be but by can for from has have how if in into is it its may no not of on " +
    "or so than that the their then there these they this to was what when where which while who " +
    "why will with you your"
  ).split(" "),
);

/** Feature to weight: the first letter of a feature tells its kind apart from the others. */
function weighFeatures(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) => {
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
    weights.set(feature, weight);
  };
  let previous: string | null = null;
  for (const word of tokenize(text)) {
    const share = FILLERS.has(word) ? FILLER_SHARE : 1;
    add(`w${word}`, WORD_WEIGHT * share);
    add(`s${stem(word)}`, STEM_WEIGHT * share);
    if (previous !== null) add(`p${previous} ${word}`, PAIR_WEIGHT * share);
    for (const piece of piecesOf(word)) add(`c${piece}`, PIECE_WEIGHT * share);
    previous = word;
  }
  for (const [feature, weight] of weights) {
    weights.set(feature, weight * (1 + Math.log(counts.get(feature) as number)));
  }
  return weights;
}

function piecesOf(word: string): string[] {
  const padded = `<${word}>`;
  const pieces: string[] = [];
  for (let i = 0; i + 3 <= padded.length; i++) pieces.push(padded.slice(i, i + 3));
  return pieces;
}

function normalise(vector: Float32Array, text: string): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square < Number.EPSILON) {
    // No words, or they cancelled out: a direction of the text's own, since zero has no direction.
    vector.fill(0);
    vector[fnv1a(text) % vector.length] = 1;
    return vector;
  }
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale;
  return vector;
}

/** FNV-1a over UTF-16 code units, with a final mix so that the low bits are as good as the high. */
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
