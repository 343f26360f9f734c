import { base64Of } from "../../../src/domain/vector.ts";
import { randomVector } from "../../../support/api/versions.ts";

/** Files are generated from small numbers, so a model holds only those. */

export const PATHS = [
  ...["a.md", "b.md", "guide/a.md", "guide/b.mdx", "guide/deep/c.md", "z.md"],
  ...["api/one.md", "api/two.md", "api/three.md", "notes.txt", "raw/data.json", "Ünïcode 🚀.md"],
];
/** Number of different files. */
export const CONTENTS = 48;
const VECTORS = 40;
const DIMENSIONS = [768, 768, 768, 1_024];
/** Words that differ by more than a typo, and of which none begins with another. */
export const WORDS = Array.from({ length: 24 }, (_, i) => {
  return `q${Bun.hash(`word ${i}`).toString(26).slice(0, 9)}x`;
});

export interface ModelChunk {
  readonly index: number;
  readonly content: string;
  readonly vector: Float32Array<ArrayBuffer>;
}

interface ModelFile {
  readonly words: ReadonlySet<string>;
  readonly content: string;
  readonly chunks: readonly ModelChunk[];
}

const vectors = new Map<number, Float32Array<ArrayBuffer>>();

/** One of few vectors, so that chunks share them. */
export function vectorOf(number: number): Float32Array<ArrayBuffer> {
  const seed = number % VECTORS;
  let vector = vectors.get(seed);
  if (vector === undefined) {
    vector = randomVector(DIMENSIONS[seed % DIMENSIONS.length] as number, seed + 1);
    vectors.set(seed, vector);
  }
  return vector;
}

const files = Array.from({ length: CONTENTS }, (_, number): ModelFile => {
  const words = [0, 1, 2].map((i) => WORDS[(number * 7 + i * 5) % WORDS.length] as string);
  const chunks = Array.from({ length: number % 4 }, (_, index) => ({
    index,
    content: `chunk ${index} of ${number}: ${words[index]}`,
    vector: vectorOf(number * 3 + index * 11),
  }));
  return {
    words: new Set(words),
    content: `---\ntitle: Text ${number}\n---\n# Heading ${number}\n\n${words.join(" and ")}\n`,
    chunks,
  };
});

export function fileOf(number: number): ModelFile {
  return files[number % CONTENTS] as ModelFile;
}

export const isMarkdown = (path: string): boolean => /\.mdx?$/.test(path);

/** The record that imports a file. */
export function fileRecord(
  project: string,
  path: string,
  number: number,
  scopes: { environments?: readonly string[]; releases?: readonly string[] },
): object {
  const { content, chunks } = fileOf(number);
  return {
    record: "file",
    project,
    path,
    content,
    ...scopes,
    chunks: chunks.map(({ index, content, vector }) => {
      return { index, content, embedding: base64Of(vector) };
    }),
  };
}
