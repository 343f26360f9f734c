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
  const numbers = numbersOf(sorted);
  const starts = new Uint32Array(sorted.length + 1);
  sorted.forEach((term, i) => {
    starts[i + 1] = (starts[i] as number) + term.length;
  });
  const chars = new Uint16Array(starts[sorted.length] as number);
  sorted.forEach((term, i) => {
    for (let c = 0; c < term.length; c++) chars[(starts[i] as number) + c] = term.charCodeAt(c);
  });
  const backwards = sorted.map(reverse);
  const numbersBackwards = numbersOf(backwards);
  return {
    sorted,
    rank: Uint32Array.from(terms, (term) => numbers.get(term) as number),
    starts,
    chars,
    reversed: Uint32Array.from(backwards.sort(), (term) => numbersBackwards.get(term) as number),
  };
}

function numbersOf(terms: readonly string[]): Map<string, number> {
  return new Map(terms.map((term, i) => [term, i]));
}

/** By code unit, because that is what suffix lookups compare. */
function reverse(term: string): string {
  const units: number[] = [];
  for (let i = term.length - 1; i >= 0; i--) units.push(term.charCodeAt(i));
  return String.fromCharCode(...units);
}
