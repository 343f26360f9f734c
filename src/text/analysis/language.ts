import { cat, eus, gle, hun, lit, ron } from "stopword";
import { stemLanguages } from "../../../native/text.ts";
import type { FrontmatterEntry } from "../../shared/frontmatter-entry.ts";
import { FUNCTION_WORD_LANGUAGES, languagesOf } from "./function-words.ts";
import { tokenize } from "./tokenize.ts";

/**
 * Detects the language of a document among those with a stemmer: the one that its frontmatter names, or else the
 * language of most of its function words. Languages are numbered as in `stemLanguages`.
 */

/** The language for texts whose language is unknown, or does not have a stemmer. */
export const ENGLISH = 0;

/** The two written forms of Norwegian. */
const SAME: Readonly<Record<string, string>> = { nb: "no", nn: "no" };

const numbers = new Map(stemLanguages.map((code, number) => [code, number]));

function numberOf(code: string): number | undefined {
  return numbers.get(SAME[code] ?? code);
}

const names = new Intl.DisplayNames("en", { type: "language" });
const byName = new Map(
  stemLanguages.map((code, number) => [(names.of(code) ?? code).toLowerCase(), number]),
);

/** A tag such as `de`, `pt-BR`, `deu` or `zh_TW`, or the English name of a language; else undefined. */
function languageNamed(value: string): number | undefined {
  const tag = value.trim().replaceAll("_", "-");
  const named = byName.get(tag.toLowerCase());
  if (named !== undefined) return named;
  try {
    return numberOf(new Intl.Locale(tag).language) ?? ENGLISH;
  } catch {
    return undefined;
  }
}

const KEY = /^(?:lang|language)$/i;

/** The language that the frontmatter states; undefined without a valid statement. */
function languageStated(frontmatter: readonly FrontmatterEntry[]): number | undefined {
  const entry = frontmatter.find(({ key, value }) => KEY.test(key) && value.trim() !== "");
  return entry && languageNamed(entry.value);
}

/** Languages whose function words are used only to detect the language of a text, not for those of a query. */
const DETECTION_ONLY = { ro: ron, hu: hun, ca: cat, lt: lit, ga: gle, eu: eus };
/** The languages by the bit of `languageBits`. */
const BITS = [...FUNCTION_WORD_LANGUAGES, ...Object.keys(DETECTION_ONLY)];
let detectionBits: ReadonlyMap<string, number> | undefined;

function readDetectionOnly(): ReadonlyMap<string, number> {
  const read = new Map<string, number>();
  Object.values(DETECTION_ONLY).forEach((list, i) => {
    const bit = 1 << (FUNCTION_WORD_LANGUAGES.length + i);
    for (const word of tokenize(list.join(" "))) read.set(word, (read.get(word) ?? 0) | bit);
  });
  return read;
}

/** The languages of which a token is a function word, as bits. */
export function languageBits(token: string): number {
  detectionBits ??= readDetectionOnly();
  return languagesOf(token) | (detectionBits.get(token) ?? 0);
}

/** Scripts of a single language that has a stemmer. */
const SCRIPTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\p{sc=Grek}/gu, "el"],
  [/\p{sc=Armn}/gu, "hy"],
  [/\p{sc=Taml}/gu, "ta"],
];
const SAMPLE_CHARS = 2_000;
/** Minimum share of a script's letters in a text. Spaces and code are the rest. */
const SCRIPT_SHARE = 0.3;

/** The language that is the only one of a text's script. */
function languageOfScript(text: string): number | undefined {
  const sample = text.slice(0, SAMPLE_CHARS);
  const found = SCRIPTS.find(
    ([letter]) => (sample.match(letter)?.length ?? 0) > SCRIPT_SHARE * sample.length,
  );
  return found && numberOf(found[1]);
}

/** Tokens of a text that its language is detected by. */
const SAMPLE_TOKENS = 1_000;
/** Minimum votes, and their minimum share of the distinct words. Fewer are chance. */
const LEAST_VOTES = 3;
const LEAST_SHARE = 0.08;
/** Minimum votes as a multiple of those for English, which texts of all languages quote. */
const CLEARLY_MORE = 1.2;

/** The language with the most function words among the tokens. */
function languageOfWords(bitsOf: (token: number) => number, tokens: Uint32Array): number {
  const votes = new Float64Array(BITS.length);
  const words = new Set(tokens.subarray(0, SAMPLE_TOKENS));
  for (const token of words) {
    const bits = bitsOf(token);
    if (bits === 0) continue;
    let languages = 0;
    for (let rest = bits; rest !== 0; rest &= rest - 1) languages++;
    for (let bit = 0; bit < BITS.length; bit++) {
      // A word of many languages is weak evidence.
      if ((bits >>> bit) & 1) votes[bit] = (votes[bit] as number) + 1 / languages;
    }
  }
  const most = Math.max(...votes);
  const least = Math.max(LEAST_VOTES, LEAST_SHARE * words.size);
  const isClear = most >= least && most > CLEARLY_MORE * (votes[0] as number);
  return isClear ? (numberOf(BITS[votes.indexOf(most)] as string) ?? ENGLISH) : ENGLISH;
}

/**
 * The number of the language of a document.
 *
 * @param tokens the tokens of the document
 * @param bitsOf the `languageBits` of a token; 0 for marks
 */
export function languageOf(
  document: { readonly frontmatter: readonly FrontmatterEntry[]; readonly content: string },
  tokens: Uint32Array,
  bitsOf: (token: number) => number,
): number {
  return (
    languageStated(document.frontmatter) ??
    languageOfScript(document.content) ??
    languageOfWords(bitsOf, tokens)
  );
}
