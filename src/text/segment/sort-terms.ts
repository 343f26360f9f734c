import { reversed, termStrings, termUnits } from "./term-strings.ts";

interface SortedTerms {
  sorted: string[];
  /** The final term number of each provisional one. */
  rank: Uint32Array;
  starts: Uint32Array;
  chars: Uint16Array;
  /** Term numbers in the order of the reversed terms. */
  reversed: Uint32Array;
}

/** Sorts distinct terms by code unit, forwards and reversed. */
export function sortTerms(terms: readonly string[]): SortedTerms {
  // Without a comparator, sort() compares code units, in native code.
  const sorted = terms.toSorted();
  const units = termUnits(sorted);
  const backwards = termStrings(reversed(units));
  return {
    sorted,
    rank: placesOf(terms, sorted),
    ...units,
    // By code unit, because suffix lookups compare code units.
    reversed: placesOf(backwards.toSorted(), backwards),
  };
}

/** The place of each text in a list of all of them. */
function placesOf(texts: readonly string[], list: readonly string[]): Uint32Array {
  const places = new Map<string, number>();
  for (let i = 0; i < list.length; i++) places.set(list[i] as string, i);
  const result = new Uint32Array(texts.length);
  for (let i = 0; i < texts.length; i++) result[i] = places.get(texts[i] as string) as number;
  return result;
}
