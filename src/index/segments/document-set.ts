/**
 * Documents of one segment: bit d of word d >> 5. `null` means all of them. Bits beyond the last
 * word count as unset.
 */
export type DocumentSet = Uint32Array | null;

export function hasDocument(set: DocumentSet, document: number): boolean {
  if (set === null) return true;
  return (((set[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
}

/** An empty set for a segment of this size. */
export function emptyDocumentSet(documentCount: number): Uint32Array {
  return new Uint32Array((documentCount + 31) >>> 5);
}

export function addDocument(set: Uint32Array, document: number): void {
  const word = document >>> 5;
  set[word] = (set[word] as number) | (1 << (document & 31));
}

/** The first document of the set that is not below `from`; `count` if the set ends before. */
export function nextDocument(set: DocumentSet, from: number, count: number): number {
  if (set === null || from >= count) return Math.min(from, count);
  let word = from >>> 5;
  let bits = (set[word] ?? 0) & (-1 << (from & 31));
  while (bits === 0) {
    word++;
    if (word * 32 >= count) return count;
    bits = set[word] ?? 0;
  }
  const document = word * 32 + (31 - Math.clz32(bits & -bits));
  return Math.min(document, count);
}

/** The number of documents of the set below `count`. */
export function countDocuments(set: DocumentSet, count: number): number {
  if (set === null) return count;
  const whole = Math.min(count >>> 5, set.length);
  let size = 0;
  for (let word = 0; word < whole; word++) size += popcount(set[word] as number);
  const rest = count & 31;
  if (rest > 0) size += popcount((set[count >>> 5] ?? 0) & ((1 << rest) - 1));
  return size;
}

function popcount(bits: number): number {
  let v = bits - ((bits >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
