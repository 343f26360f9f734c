import { cat, eus, gle, hun, lit, ron } from "stopword";
import { stemLanguages } from "../../../native/text.ts";
import type { FrontmatterEntry } from "../../shared/frontmatter-entry.ts";
import { FUNCTION_WORD_LANGUAGES, languagesOf } from "./function-words.ts";
import { tokenize } from "./tokenize.ts";

/**
 * In which language a document is, of those that have a stemmer: what its frontmatter says, or else the one that has
 * most of its function words. Languages are numbered as in `stemLanguages`.
 */

/** Texts that tell no language, or one without a stemmer, are stemmed as English. */
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

/** The language that the frontmatter states, if it does. */
function languageStated(frontmatter: readonly FrontmatterEntry[]): number | undefined {
  const entry = frontmatter.find(({ key, value }) => KEY.test(key) && value.trim() !== "");
  return entry && languageNamed(entry.value);
}

/** Languages whose function words tell only in which language a text is. */
const TOLD_ONLY = { ro: ron, hu: hun, ca: cat, lt: lit, ga: gle, eu: eus };
/** The languages by the bit of `languageBits`. */
const BITS = [...FUNCTION_WORD_LANGUAGES, ...Object.keys(TOLD_ONLY)];
let told: ReadonlyMap<string, number> | undefined;

function readTold(): ReadonlyMap<string, number> {
  const read = new Map<string, number>();
  Object.values(TOLD_ONLY).forEach((list, i) => {
    const bit = 1 << (FUNCTION_WORD_LANGUAGES.length + i);
    for (const word of tokenize(list.join(" "))) read.set(word, (read.get(word) ?? 0) | bit);
  });
  return read;
}

/** The languages of which a token is a function word, as bits. */
export function languageBits(token: string): number {
  told ??= readTold();
  return languagesOf(token) | (told.get(token) ?? 0);
}

/** Scripts of a single language that has a stemmer. */
const SCRIPTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\p{sc=Grek}/gu, "el"],
  [/\p{sc=Armn}/gu, "hy"],
  [/\p{sc=Taml}/gu, "ta"],
];
const SAMPLE_CHARS = 2_000;
/** Letters of its script are at least this share of a text: spaces and code are the rest. */
const SCRIPT_SHARE = 0.3;

/** The language that the script of a text tells. */
function languageOfScript(text: string): number | undefined {
  const sample = text.slice(0, SAMPLE_CHARS);
  const found = SCRIPTS.find(
    ([letter]) => (sample.match(letter)?.length ?? 0) > SCRIPT_SHARE * sample.length,
  );
  return found && numberOf(found[1]);
}

/** As many tokens of a text tell its language. */
const TOLD_BY_TOKENS = 1_000;
/** Fewer different function words are chance, as is a smaller share of the different words. */
const LEAST_VOTES = 3;
const LEAST_SHARE = 0.08;
/** So many times those of English, which texts of all languages quote. */
const CLEARLY_MORE = 1.2;

/** The language whose function words most of the tokens are. */
function languageOfWords(bitsOf: (token: number) => number, tokens: Uint32Array): number {
  const votes = new Float64Array(BITS.length);
  const words = new Set(tokens.subarray(0, TOLD_BY_TOKENS));
  for (const token of words) {
    const bits = bitsOf(token);
    if (bits === 0) continue;
    let languages = 0;
    for (let rest = bits; rest !== 0; rest &= rest - 1) languages++;
    for (let bit = 0; bit < BITS.length; bit++) {
      // A word of many languages tells little.
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
 * @param tokens those of the document
 * @param bitsOf what `languageBits` says of a token; 0 for marks
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
