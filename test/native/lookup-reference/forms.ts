/** The forms of words in a view, without haste: every term of every document is looked at. */
import { stemKeys, stemLanguages } from "../../../native/text.ts";
import { ENGLISH, hasDocument, type SegmentReader } from "../../../src/text/index.ts";
import { MARK } from "../../../src/text/segment/format.ts";
import type { TextView } from "../../../support/text-search.ts";
import * as weights from "./weights.ts";

const LATIN_WORD = /^[a-z\u00c0-\u024f\u1e00-\u1eff]+$/;
const OTHER_SCRIPTS = new Set(["ar", "hy", "el", "hi", "ne", "ru", "ta", "yi"]);

/** Words in Latin letters are English in texts of other scripts. */
function languageFor(language: number, isLatin: boolean): number {
  return isLatin && OTHER_SCRIPTS.has(stemLanguages[language] as string) ? ENGLISH : language;
}

/** The keys of stems that a segment has for each term, by language. */
function keysOf(segment: SegmentReader, language: number): Map<number, number[]> {
  const { stemStart, stemKeys: keys, stemTerms } = segment;
  const found = new Map<number, number[]>();
  for (let i = stemStart[language] as number; i < (stemStart[language + 1] as number); i++) {
    const term = stemTerms[i] as number;
    found.set(term, [...(found.get(term) ?? []), keys[i] as number]);
  }
  return found;
}

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

  #addDocument(segment: SegmentReader, d: number, texts: string[], keys: Map<number, number[]>[]) {
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

  /** The texts of the terms that are the word or a form of it. */
  textsOf(text: string, raw: string): ReadonlySet<string> {
    const texts = new Set([text]);
    const isOne = [...this.#documents.keys()].filter((key) => typeof key === "number").length === 1;
    for (const held of this.#held.values()) {
      const keys = stemKeys(held.language, [text, raw]);
      if (!keys.some((key) => key !== null && held.keys.has(key))) continue;
      const share = (this.#documents.get(held.language) as number) / this.#all;
      const expected = (this.#documents.get(held.text) as number) * share;
      if (isOne || held.documents >= weights.STEM_LANGUAGE_MIN_SHARE * expected)
        texts.add(held.text);
    }
    return texts;
  }
}
