/** A document ready to be written. Its tokens are positions in `StagedDocuments.terms`. */
export interface StagedDocument {
  id: string;
  path: Buffer;
  title: string;
  /** JSON list of {key, value}. */
  frontmatter: string;
  /** Term numbers and marks, as in the segment. */
  tokens: Uint32Array;
  /** The content, as far as snippets need it. */
  blocks: TextBlock[];
}

/** A piece of a document's content. */
export interface TextBlock {
  /** The number of tokens of the content before it. */
  firstToken: number;
  /** The plain text in UTF-8, compressed; see `text-blocks.ts`. */
  bytes: Uint8Array;
}

export interface StagedDocuments {
  documents: StagedDocument[];
  /** Distinct, in any order. */
  terms: string[];
  /** Frontmatter keys; a key's position is its number in field marks. */
  keys: string[];
}

/** Numbers distinct strings in the order in which they first occur. */
export class Interner {
  readonly strings: string[] = [];
  readonly #numbers = new Map<string, number>();

  intern(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.strings.length;
    // A slice of a document keeps the whole document alive in memory; a copy does not.
    const copy = Buffer.from(text, "utf16le").toString("utf16le");
    this.strings.push(copy);
    this.#numbers.set(copy, number);
    return number;
  }
}

/** Work that yields every few milliseconds, for a thread that has other things to do. */
export type Steps<T> = Generator<void, T, void>;

/** How many documents a step processes. */
export const DOCUMENTS_PER_STEP = 64;

/** Runs all steps without a pause. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
