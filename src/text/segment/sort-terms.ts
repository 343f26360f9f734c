import type { Steps } from "./staging.ts";

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
export function* sortTerms(terms: readonly string[]): Steps<SortedTerms> {
  const order = terms.map((_, i) => i).sort((a, b) => compare(terms[a], terms[b]));
  const sorted = order.map((i) => terms[i] as string);
  const rank = new Uint32Array(terms.length);
  order.forEach((provisional, final) => {
    rank[provisional] = final;
  });
  const starts = new Uint32Array(sorted.length + 1);
  sorted.forEach((term, i) => {
    starts[i + 1] = (starts[i] as number) + term.length;
  });
  const chars = new Uint16Array(starts[sorted.length] as number);
  sorted.forEach((term, i) => {
    for (let c = 0; c < term.length; c++) chars[(starts[i] as number) + c] = term.charCodeAt(c);
  });
  yield;
  const backwards = sorted.map(reverse);
  const reversed = Uint32Array.from(
    sorted.map((_, i) => i).sort((a, b) => compare(backwards[a], backwards[b])),
  );
  yield;
  return { sorted, rank, starts, chars, reversed };
}

function compare(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
}

/** By code unit, because that is what suffix lookups compare. */
function reverse(term: string): string {
  let reversed = "";
  for (let i = term.length - 1; i >= 0; i--) reversed += term[i];
  return reversed;
}
