/** The forms of words in a view, without haste: every term of every document is looked at. */
import { stem, stemLanguages } from "../../../native/text.ts";
import { ENGLISH, hasDocument } from "../../../src/index/segments/index.ts";
import { MARK, type SegmentContents } from "../../../support/segment-contents.ts";
import type { TextView } from "../../../support/text-search.ts";
import * as weights from "./weights.ts";

const LATIN_WORD = /^[a-z\u00c0-\u024f\u1e00-\u1eff]+$/;
const OTHER_SCRIPTS = new Set(["ar", "hy", "el", "hi", "ne", "ru", "ta", "yi"]);

/** Words in Latin letters are English in texts of other scripts. */
function languageFor(language: number, isLatin: boolean): number {
  return isLatin && OTHER_SCRIPTS.has(stemLanguages[language] as string) ? ENGLISH : language;
}

/** The hash of the stem of a word, which no form has if the word has no stem. */
function stemKey(word: string, language: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(stem(word, language))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}

/** The keys of stems that a segment has for each term, by language. */
function keysOf(segment: SegmentContents, language: number): Map<number, number[]> {
  const { stemStart, stemKeys: keys, stemTerms } = segment;
  const found = new Map<number, number[]>();
  for (let i = stemStart[language] as number; i < (stemStart[language + 1] as number); i++) {
    const term = stemTerms[i] as number;
    found.set(term, [...(found.get(term) ?? []), keys[i] as number]);
  }
  return found;
}

const COMPOUNDING = new Set(["de", "nl", "sv", "da", "no"]);

const shortest = (parts: readonly string[]) => Math.min(...parts.map(({ length }) => length));
const isBetter = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length ? shortest(a) > shortest(b) : a.length < b.length;

/** A term in the documents of one language. */
interface Held {
  readonly text: string;
  readonly language: number;
  readonly keys: Set<number>;
  documents: number;
}

const add = (counts: Map<unknown, number>, key: unknown) =>
  counts.set(key, (counts.get(key) ?? 0) + 1);

export class FormsByReference {
  readonly #held = new Map<string, Held>();
  /** Documents by language, by term, and all. */
  readonly #documents = new Map<unknown, number>();
  #all = 0;

  constructor({ segments, documentSets }: TextView) {
    segments.forEach((segment, s) => {
      const texts = segment.terms();
      const keys = stemLanguages.map((_, language) => keysOf(segment, language));
      for (let d = 0; d < segment.documentCount; d++) {
        if (hasDocument(documentSets[s] ?? null, d)) this.#addDocument(segment, d, texts, keys);
      }
    });
  }

  #addDocument(
    segment: SegmentContents,
    d: number,
    texts: string[],
    keys: Map<number, number[]>[],
  ) {
    const own = segment.languages[d] as number;
    this.#all++;
    for (const each of new Set([own, languageFor(own, true)])) add(this.#documents, each);
    const tokens = segment.tokens.subarray(segment.tokenStart[d], segment.tokenStart[d + 1]);
    for (const term of new Set(tokens)) {
      if (term >= MARK) continue;
      const text = texts[term] as string;
      const language = languageFor(own, LATIN_WORD.test(text));
      const id = `${language} ${text}`;
      const held = this.#held.get(id) ?? { text, language, keys: new Set(), documents: 0 };
      held.documents++;
      for (const key of keys[language]?.get(term) ?? []) held.keys.add(key);
      this.#held.set(id, held);
      add(this.#documents, text);
    }
  }

  /** The words that a word of 7 to 40 letters consists of in a language that writes compounds as one. */
  partsOf(word: string): readonly string[] {
    if (word.length < 7 || word.length > 40) return [];
    for (const [language, code] of stemLanguages.entries()) {
      if (!COMPOUNDING.has(code) || !this.#documents.has(language)) continue;
      const parts = this.#cut(word, word, language) ?? [];
      if (parts.length > 1 && parts.length <= 4) return parts;
    }
    return [];
  }

  /** The fewest parts, of which the shortest is as long as possible. */
  #cut(rest: string, word: string, language: number): readonly string[] | undefined {
    let best: readonly string[] | undefined;
    for (let length = 3; length <= Math.min(24, rest.length); length++) {
      const first = rest.slice(0, length);
      if (first === word || !this.#isHeld(first, language)) continue;
      const others = length === rest.length ? [] : this.#cut(rest.slice(length), word, language);
      if (others === undefined) continue;
      const cut = [first, ...others];
      if (best === undefined || isBetter(cut, best)) best = cut;
    }
    return best;
  }

  #isHeld(part: string, language: number): boolean {
    const key = stemKey(part, language);
    return [...this.#held.values()].some(
      (held) => held.language === language && held.keys.has(key),
    );
  }

  /** The texts of the terms that are the word or a form of it. */
  textsOf(text: string, raw: string): ReadonlySet<string> {
    const texts = new Set([text]);
    const isOne = [...this.#documents.keys()].filter((key) => typeof key === "number").length === 1;
    for (const held of this.#held.values()) {
      const keys = [text, raw].map((word) => stemKey(word, held.language));
      if (!keys.some((key) => held.keys.has(key))) continue;
      const share = (this.#documents.get(held.language) as number) / this.#all;
      const expected = (this.#documents.get(held.text) as number) * share;
      if (isOne || held.documents >= weights.STEM_LANGUAGE_MIN_SHARE * expected)
        texts.add(held.text);
    }
    return texts;
  }
}
