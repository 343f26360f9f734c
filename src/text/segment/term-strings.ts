/** The code units of all terms one after another. The units of term t end at the start of term t + 1. */
interface TermUnits {
  starts: Uint32Array;
  chars: Uint16Array;
}

/** All terms by number. Decoding them in one call takes a fraction of the time of single calls. */
export function termStrings({ starts, chars }: TermUnits): string[] {
  const all = textOf(chars);
  return Array.from({ length: starts.length - 1 }, (_, term) =>
    all.slice(starts[term], starts[term + 1]),
  );
}

function textOf(chars: Uint16Array): string {
  const isAscii = chars.every((unit) => unit < 128);
  // Buffer.from(array) keeps the low byte of each unit.
  if (isAscii) return Buffer.from(chars).toString("latin1");
  return Buffer.from(chars.buffer, chars.byteOffset, chars.byteLength).toString("utf16le");
}

/** The code units of strings. */
export function termUnits(terms: readonly string[]): TermUnits {
  const starts = new Uint32Array(terms.length + 1);
  for (let t = 0; t < terms.length; t++) {
    starts[t + 1] = (starts[t] as number) + (terms[t] as string).length;
  }
  const chars = new Uint16Array(starts[terms.length] as number);
  Buffer.from(chars.buffer).write(terms.join(""), "utf16le");
  return { starts, chars };
}

/** The same terms, each backwards by code unit. */
export function reversed({ starts, chars }: TermUnits): TermUnits {
  const backwards = new Uint16Array(chars.length);
  for (let t = 0; t + 1 < starts.length; t++) {
    const from = starts[t] as number;
    const last = (starts[t + 1] as number) - 1;
    for (let i = from; i <= last; i++) backwards[i] = chars[from + last - i] as number;
  }
  return { starts, chars: backwards };
}
