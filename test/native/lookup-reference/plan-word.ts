/** What a word of a query matches, without haste: it is compared with every term. */
import { distance } from "fastest-levenshtein";
import type { AnalysedWord } from "../../../native/testing.ts";
import { ENGLISH, hasDocument } from "../../../src/index/segments/index.ts";
import { POSTING_DOCUMENT_SHIFT } from "../../../support/segment-contents.ts";
import type { TextView } from "../../../support/text-search.ts";
import { type ApartMatch, apartIn } from "./apart.ts";
import { FormsByReference } from "./forms.ts";
import * as weights from "./weights.ts";

export interface TermMatch {
  readonly term: number;
  readonly similarity: number;
  /** Out of `maxScore`. */
  readonly coverage: number;
  readonly earnsBonus: boolean;
}

/** A word whatever the rest of the query is: it weighs `idf`, and coverages are shares of it. */
export interface PlannedWord {
  readonly idf: number;
  readonly formWeight: number;
  readonly exactWeight: number;
  readonly otherWeight: number;
  /** By segment: forms of the word, and longer or misspelt ones. */
  readonly forms: readonly (readonly TermMatch[])[];
  readonly others: readonly (readonly TermMatch[])[];
  /** By segment, the word as documents write it apart. */
  readonly apart: readonly (readonly ApartMatch[])[];
  /** Of all terms, added up. */
  readonly frequency: number;
  /** Of a compound. */
  readonly parts: readonly string[];
  readonly isHeld: boolean;
}

/** A term of a segment that documents in scope hold. */
export interface Term {
  readonly segment: number;
  readonly term: number;
  readonly text: string;
  /** How many they are. */
  readonly frequency: number;
}

export const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** The documents in scope and the terms of a view, which many queries share. */
export class Vocabulary {
  readonly terms: readonly Term[];
  readonly documents: number;
  readonly averageLength: number;
  /** Whether all documents are in English. */
  readonly isEnglish: boolean;
  readonly #forms: FormsByReference;
  /** By segment, the terms by their texts. */
  readonly #numbers: ReadonlyArray<ReadonlyMap<string, number>>;

  constructor(readonly view: TextView) {
    const inScope = (s: number, d: number) => hasDocument(view.documentSets[s] ?? null, d);
    const lengths = view.segments.flatMap((segment, s) =>
      [...segment.lengths].filter((_, document) => inScope(s, document)),
    );
    this.documents = lengths.length;
    this.isEnglish = view.segments.every((segment, s) =>
      segment.languages.every((language, d) => language === ENGLISH || !inScope(s, d)),
    );
    this.averageLength = Math.max(1, sum(lengths) / Math.max(1, lengths.length));
    this.terms = view.segments.flatMap((segment, s) =>
      segment.terms().map((text, term) => {
        const { postings, postingStart } = segment;
        const own = postings.subarray(postingStart[term], postingStart[term + 1]);
        const held = own.filter((posting) => inScope(s, posting >>> POSTING_DOCUMENT_SHIFT));
        return { segment: s, term, text, frequency: held.length };
      }),
    );
    this.terms = this.terms.filter((term) => term.frequency > 0);
    this.#forms = new FormsByReference(view);
    this.#numbers = view.segments.map(
      (segment) => new Map(segment.terms().map((text, term) => [text, term])),
    );
  }

  /** The terms that are the word or have its stem in a language of the documents. */
  partsOf(text: string): readonly string[] {
    return this.#forms.partsOf(text);
  }

  termOf(segment: number, text: string): number | undefined {
    return this.#numbers[segment]?.get(text);
  }

  formsOf(text: string, raw: string): readonly Term[] {
    const texts = this.#forms.textsOf(text, raw);
    return this.terms.filter((term) => texts.has(term.text));
  }
}

/** A term that a word matches, in one of several ways. */
interface Match extends Term {
  readonly similarity: number;
  /** As a share of the word. */
  readonly coverage: number;
  readonly earnsBonus: boolean;
}

const isSwap = (a: string, b: string) =>
  a.length === b.length &&
  [...Array(a.length).keys()].some(
    (i) => a !== b && a.slice(0, i) + a.charAt(i + 1) + a.charAt(i) + a.slice(i + 2) === b,
  );

/** The words that a misspelt word may mean, which at least so many documents hold. */
function meantBy(word: string, { terms }: Vocabulary, least: number): string[] {
  const frequencies = new Map<string, number>();
  for (const { text, frequency } of terms) {
    if (distance(text, word) !== 1 && !isSwap(text, word)) continue;
    frequencies.set(text, (frequencies.get(text) ?? 0) + frequency);
  }
  const byFrequency = [...frequencies].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const common = byFrequency.filter(([, frequency]) => frequency >= least);
  return common.slice(0, weights.FUZZY_MAX_WORDS).map(([text]) => text);
}

/** @param held how many documents hold the word, or longer ones */
function meantMatches(
  word: string,
  vocabulary: Vocabulary,
  held: number,
  forms: readonly Match[],
): Match[] {
  const digitsOf = (text: string) => text.replace(/[^0-9]/g, "");
  const isOther = (meant: string) =>
    held === 0 ||
    (!forms.some((form) => form.text === meant) && digitsOf(meant) === digitsOf(word));
  return meantBy(word, vocabulary, weights.MEANT_MIN_RATIO * held)
    .filter(isOther)
    .flatMap((meant) => {
      const isSameFirst = meant.charCodeAt(0) === word.charCodeAt(0);
      const similarity =
        (isSameFirst ? weights.FUZZY_SIMILARITY : weights.FUZZY_FIRST_LETTER_SIMILARITY) *
        (held > 0 ? weights.MEANT_BESIDE_HELD_SHARE : 1);
      const coverage = weights.FUZZY_COVERAGE;
      const rest = {
        similarity: similarity * weights.FUZZY_STEM_SIMILARITY,
        coverage: coverage * weights.STEM_COVERAGE,
      };
      return vocabulary.formsOf(meant, meant).map((term) => ({
        ...term,
        ...(term.text === meant ? { similarity, coverage } : rest),
        earnsBonus: held === 0,
      }));
    });
}

/** By segment, the best of the ways in which each term matches; terms that are `apart` are left out. */
function bestByTerm(matches: readonly Match[], also: readonly Match[], segments: number) {
  const best = (term: Match, values: (match: Match) => number) =>
    Math.max(...also.filter((match) => isSame(match, term)).map(values));
  return Array.from({ length: segments }, (_, s) => {
    const own = matches.filter(({ segment }) => segment === s);
    const distinct = own.filter((match, i) => own.findIndex((each) => isSame(each, match)) === i);
    return distinct.map((match) => ({
      term: match.term,
      similarity: best(match, ({ similarity }) => similarity),
      coverage: best(match, ({ coverage }) => coverage),
      earnsBonus: match.earnsBonus,
    }));
  });
}

const isSame = (a: Match, b: Match) => a.segment === b.segment && a.term === b.term;

function idfOf(documents: number, matches: ReadonlyArray<Pick<Term, "frequency">>): number | null {
  const frequency = Math.min(documents, sum(matches.map((match) => match.frequency)));
  if (frequency === 0) return null;
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

const frequencyOf = (terms: ReadonlyArray<Pick<Term, "frequency">>) =>
  sum(terms.map(({ frequency }) => frequency));

/** Longer words that begin with a word. A word that documents hold is taken for whole, unless far more hold longer ones. */
function longerMatches(word: AnalysedWord, vocabulary: Vocabulary, held: number, typed: boolean) {
  const { text, isPrefix, isCharacter } = word;
  if (!isPrefix && !isCharacter) return [];
  const longer = vocabulary.terms.filter(
    (term) => term.text.startsWith(text) && term.text !== text,
  );
  const isWhole = held * weights.WHOLE_WORD_LONGER_MAX >= Math.max(1, frequencyOf(longer));
  const matches = (similarity: number, earnsBonus: boolean) =>
    longer.map((term): Match => {
      const typedShare = similarity * (text.length / term.text.length);
      return { ...term, similarity: typedShare, coverage: typedShare, earnsBonus };
    });
  if (isCharacter) return matches(weights.CHARACTER_SIMILARITY, true);
  if (!isWhole) return matches(weights.PREFIX_SIMILARITY, typed);
  return typed ? matches(weights.PREFIX_SIMILARITY_BESIDE_FORMS, false) : [];
}

/** @param typed whether the query may still be typed, as that of a lookup */
export function planWord(
  word: AnalysedWord,
  vocabulary: Vocabulary,
  typed: boolean,
  isPart = false,
): PlannedWord {
  const { text, raw } = word;
  const { documents, view } = vocabulary;
  const forms = vocabulary.formsOf(text, raw).map((term) =>
    term.text === text
      ? { ...term, similarity: 1, coverage: 1, earnsBonus: true }
      : {
          ...term,
          similarity: weights.STEM_SIMILARITY,
          coverage: weights.STEM_COVERAGE,
          earnsBonus: true,
        },
  );
  const longer = longerMatches(word, vocabulary, frequencyOf(forms), typed);
  const exact = forms.filter((form) => form.text === text);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  // A part is a word of the vocabulary, so it is neither misspelt nor cut again.
  const isUnsure = letters >= 4 && !isPart;
  const parts = isUnsure ? vocabulary.partsOf(text) : [];
  const held = frequencyOf([...exact, ...longer]);
  const isRare = held <= Math.max(1, weights.MISSPELT_MAX_SHARE * documents);
  const apart = isPart ? view.segments.map(() => []) : apartIn(word, vocabulary);
  const isMisspelt = isRare && parts.length === 0 && isUnsure && apart.flat().length === 0;
  const meant = isMisspelt ? meantMatches(text, vocabulary, held, forms) : [];
  const all = [...forms, ...longer, ...meant];
  const otherWeight = idfOf(documents, [...all, ...apart.flat()]) ?? 0;
  const formWeight = idfOf(documents, forms) ?? otherWeight;
  const exactWeight =
    weights.EXACT_FORM_SHARE * ((idfOf(documents, exact) ?? formWeight) - formWeight);
  const frequency = frequencyOf([...all, ...apart.flat()]);
  const idf = formWeight + exactWeight;
  const others = all.filter((match) => !forms.some((form) => isSame(form, match)));
  return {
    idf,
    formWeight,
    exactWeight,
    otherWeight,
    frequency,
    parts,
    apart,
    isHeld: forms.length + longer.length + apart.flat().length > 0,
    forms: bestByTerm(forms, [...forms, ...meant], view.segments.length),
    others: bestByTerm(others, all, view.segments.length),
  };
}

/** A word that documents write as one with its neighbours. */
export function withJoined(
  word: PlannedWord,
  joined: readonly Term[],
  documents: number,
): PlannedWord {
  const frequency = word.frequency + frequencyOf(joined);
  const otherWeight = idfOf(documents, [{ frequency }]) ?? 0;
  const similarity = weights.SPELLING_SIMILARITY;
  const coverage = weights.SPELLING_COVERAGE;
  const better = (match: TermMatch, s: number) =>
    joined.some(({ segment, term }) => segment === s && term === match.term)
      ? {
          ...match,
          similarity: Math.max(match.similarity, similarity),
          coverage: Math.max(match.coverage, coverage),
        }
      : match;
  const isKnown = (term: number, s: number) =>
    [...(word.forms[s] ?? []), ...(word.others[s] ?? [])].some((match) => match.term === term);
  const others = word.others.map((own, s) => [
    ...own.map((match) => better(match, s)),
    ...joined
      .filter(({ segment, term }) => segment === s && !isKnown(term, s))
      .map(({ term }) => ({ term, similarity, coverage, earnsBonus: true })),
  ]);
  const forms = word.forms.map((own, s) => own.map((match) => better(match, s)));
  const planned = { ...word, frequency, otherWeight, forms, others };
  return forms.flat().length > 0
    ? planned
    : { ...planned, idf: otherWeight, formWeight: otherWeight };
}
