/** Plans a query as native code does, without haste: every word of the query is compared with every term. */
import { distance } from "fastest-levenshtein";
import { languagesOf } from "../../../src/text/analysis/function-words.ts";
import { identifiersIn, tokenize } from "../../../src/text/analysis/tokenize.ts";
import { hasDocument } from "../../../src/text/index.ts";
import { parseQuery } from "../../../src/text/query/parse.ts";
import { ROLE } from "../../../src/text/query/unspaced-words.ts";
import { POSTING_DOCUMENT_SHIFT } from "../../../src/text/segment/format.ts";
import type { TextView } from "../../../support/text-search.ts";
import { FormsByReference } from "./forms.ts";
import * as weights from "./weights.ts";

type ParsedWord = ReturnType<typeof parseQuery>[number];

export interface TermMatch {
  readonly term: number;
  readonly similarity: number;
  /** Out of `maxScore`. */
  readonly coverage: number;
}

export interface QueryWord {
  readonly idf: number;
  readonly weight: number;
  readonly formWeight: number;
  readonly exactWeight: number;
  readonly otherWeight: number;
  readonly selective: boolean;
  /** By segment: forms of the word, and longer or misspelt ones. */
  readonly forms: readonly (readonly TermMatch[])[];
  readonly others: readonly (readonly TermMatch[])[];
}

/** A word whatever the rest of the query is: it weighs `idf`, and coverages are shares of it. */
interface PlannedWord extends Omit<QueryWord, "weight" | "selective"> {
  /** Of all terms, added up. */
  readonly frequency: number;
  /** Of a compound. */
  readonly parts: readonly string[];
  readonly isHeld: boolean;
}

export interface QueryPlan {
  readonly words: readonly QueryWord[];
  readonly maxScore: number;
  /** What the words that no document holds would add to it. */
  readonly missingScore: number;
  readonly averageLength: number;
}

/** A term of a segment that documents in scope hold. */
interface Term {
  readonly segment: number;
  readonly term: number;
  readonly text: string;
  /** How many they are. */
  readonly frequency: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** The documents in scope and the terms of a view, which many queries share. */
export class Vocabulary {
  readonly terms: readonly Term[];
  readonly documents: number;
  readonly averageLength: number;
  readonly #forms: FormsByReference;

  constructor(readonly view: TextView) {
    const inScope = (s: number, d: number) => hasDocument(view.documentSets[s] ?? null, d);
    const lengths = view.segments.flatMap((segment, s) =>
      [...segment.lengths].filter((_, document) => inScope(s, document)),
    );
    this.documents = lengths.length;
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
  }

  /** The terms that are the word or have its stem in a language of the documents. */
  partsOf(text: string): readonly string[] {
    return this.#forms.partsOf(text);
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
}

const isSwap = (a: string, b: string) =>
  a.length === b.length &&
  [...Array(a.length).keys()].some(
    (i) => a !== b && a.slice(0, i) + a.charAt(i + 1) + a.charAt(i) + a.slice(i + 2) === b,
  );

/** The words that a misspelt word may mean. */
function meantBy(word: string, { terms }: Vocabulary): string[] {
  const frequencies = new Map<string, number>();
  for (const { text, frequency } of terms) {
    if (distance(text, word) !== 1 && !isSwap(text, word)) continue;
    frequencies.set(text, (frequencies.get(text) ?? 0) + frequency);
  }
  const byFrequency = [...frequencies].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return byFrequency.slice(0, weights.FUZZY_MAX_WORDS).map(([text]) => text);
}

function meantMatches(word: string, vocabulary: Vocabulary): Match[] {
  return meantBy(word, vocabulary).flatMap((meant) => {
    const similarity =
      meant.charCodeAt(0) === word.charCodeAt(0)
        ? weights.FUZZY_SIMILARITY
        : weights.FUZZY_FIRST_LETTER_SIMILARITY;
    const coverage = weights.FUZZY_COVERAGE;
    return vocabulary.formsOf(meant, meant).map((term) =>
      term.text === meant
        ? { ...term, similarity, coverage }
        : {
            ...term,
            similarity: similarity * weights.FUZZY_STEM_SIMILARITY,
            coverage: coverage * weights.STEM_COVERAGE,
          },
    );
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
    }));
  });
}

const isSame = (a: Match, b: Match) => a.segment === b.segment && a.term === b.term;

function idfOf(documents: number, matches: readonly Match[]): number | null {
  const frequency = Math.min(documents, sum(matches.map((match) => match.frequency)));
  if (frequency === 0) return null;
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

function planWord(word: ParsedWord, vocabulary: Vocabulary, isPart = false): PlannedWord {
  const { text, raw, isPrefix } = word;
  const { terms, documents, view } = vocabulary;
  const forms = vocabulary
    .formsOf(text, raw)
    .map((term) =>
      term.text === text
        ? { ...term, similarity: 1, coverage: 1 }
        : { ...term, similarity: weights.STEM_SIMILARITY, coverage: weights.STEM_COVERAGE },
    );
  const longer = terms
    .filter((term) => isPrefix && term.text.startsWith(text) && term.text !== text)
    .map((term) => {
      const share = weights.PREFIX_SIMILARITY_GAIN * (text.length / term.text.length);
      const similarity = weights.PREFIX_SIMILARITY_BASE + share;
      return { ...term, similarity, coverage: weights.PREFIX_COVERAGE };
    });
  const exact = forms.filter((form) => form.text === text);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  // A part is a word of the vocabulary, so it is neither misspelt nor cut again.
  const isUnsure = letters >= 4 && !isPart;
  const parts = isUnsure ? vocabulary.partsOf(text) : [];
  const isMisspelt = exact.length + longer.length + parts.length === 0 && isUnsure;
  const meant = isMisspelt ? meantMatches(text, vocabulary) : [];
  const all = [...forms, ...longer, ...meant];
  const otherWeight = idfOf(documents, all) ?? 0;
  const formWeight = idfOf(documents, forms) ?? otherWeight;
  const exactWeight =
    weights.EXACT_FORM_SHARE * ((idfOf(documents, exact) ?? formWeight) - formWeight);
  const frequency = sum(all.map((match) => match.frequency));
  const idf = formWeight + exactWeight;
  const others = all.filter((match) => !forms.some((form) => isSame(form, match)));
  return {
    ...{ idf, formWeight, exactWeight, otherWeight, frequency, parts },
    isHeld: forms.length + longer.length > 0,
    forms: bestByTerm(forms, all, view.segments.length),
    others: bestByTerm(others, all, view.segments.length),
  };
}

/** The function words of the language that has most of them; of several the one that has most in the text. */
function functionWordsOf(words: readonly KnownWord[], documents: number): ReadonlySet<KnownWord> {
  const languages = Array.from({ length: 32 }, (_, language) =>
    words.filter(({ text }) => (languagesOf(text) >>> language) & 1),
  );
  const held = (own: readonly KnownWord[]) => sum(own.map(({ planned }) => planned.frequency));
  const [best = []] = languages.toSorted((a, b) => b.length - a.length || held(b) - held(a));
  const isCertain = words.length > weights.LONG_QUERY_WORDS || best.length > 1;
  const least = isCertain ? 0 : weights.FUNCTION_WORD_MIN_SHARE * documents;
  const common = best.filter(({ planned }) => planned.frequency >= least);
  return new Set([...common, ...words.filter(({ role }) => role !== ROLE.content)]);
}

interface KnownWord extends ParsedWord {
  readonly planned: PlannedWord;
  /** How much a part of a compound counts. */
  readonly share?: number;
}

/** For each word itself and, if it is a compound, its parts, unless they are in the query. */
function withParts(words: readonly KnownWord[], vocabulary: Vocabulary): KnownWord[][] {
  const seen = new Set(words.map(({ text }) => text));
  return words.map((word) => {
    const parts = word.planned.parts.filter((text) => !seen.has(text));
    for (const text of parts) seen.add(text);
    const share = word.planned.isHeld ? weights.COMPOUND_PART_SHARE : 1;
    const own = [...new Set(parts)].map((text) => {
      const part = { ...word, text, raw: text, isPrefix: false, role: ROLE.content, share };
      return { ...part, planned: planWord(part, vocabulary, true) };
    });
    return [word, ...own];
  });
}

function scaled(planned: PlannedWord, factor: number, selective: boolean): QueryWord {
  const covers = (matches: readonly TermMatch[]) =>
    matches.map((match) => ({ ...match, coverage: match.coverage * (planned.idf * factor) }));
  return {
    ...{ idf: planned.idf, weight: planned.idf * factor, selective },
    formWeight: planned.formWeight * factor,
    exactWeight: planned.exactWeight * factor,
    otherWeight: planned.otherWeight * factor,
    forms: planned.forms.map(covers),
    others: planned.others.map(covers),
  };
}

export function planByReference(vocabulary: Vocabulary, query: string): QueryPlan {
  const { documents, averageLength } = vocabulary;
  const parsed = parseQuery(query).map((word) => ({
    ...word,
    planned: planWord(word, vocabulary),
  }));
  const functional = functionWordsOf(parsed, documents);
  const isKnown = ({ planned }: KnownWord) => planned.frequency > 0;
  const own = withParts(parsed, vocabulary);
  const known = own.flat().filter(isKnown);
  const missing = own.flatMap((words) => {
    const [word] = words as [KnownWord];
    if (words.some(isKnown)) return [];
    const mayBeFunctional = languagesOf(word.text) !== 0 || word.role !== ROLE.content;
    const share = mayBeFunctional ? weights.FUNCTION_WORD_SHARE : 1;
    return [word.count * share * Math.log(2 * documents + 2)];
  });
  const hasContent = known.some((word) => !functional.has(word));
  const identifiers = new Set(identifiersIn(query).flatMap(tokenize));
  const rare = Math.max(1, documents * weights.IDENTIFIER_MAX_SHARE);
  const isLong = parsed.length > weights.LONG_QUERY_WORDS;
  const found = known.map((word) => {
    const selective = !hasContent || !functional.has(word);
    const isRare = isLong && identifiers.has(word.text) && word.planned.frequency <= rare;
    const share = selective ? 1 : weights.FUNCTION_WORD_SHARE;
    const factor = word.count * (word.share ?? 1) * (isRare ? weights.IDENTIFIER_SHARE : share);
    const whole = scaled(word.planned, factor, selective);
    const isChance = word.role === ROLE.chance && !selective;
    return isChance ? { ...whole, idf: whole.idf * weights.FUNCTION_WORD_SHARE } : whole;
  });
  const least = found.map((word) => word.weight).sort((a, b) => b - a)[weights.QUERY_MAX_WORDS - 1];
  const words = found
    .filter((word) => word.weight >= (least ?? 0))
    .slice(0, weights.QUERY_MAX_WORDS);
  const maxScore = sum(words.map((word) => word.weight));
  return { words, maxScore, missingScore: sum(missing), averageLength };
}
