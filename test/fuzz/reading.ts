import {
  markdownChunks,
  parseMarkdown,
  readFrontmatter,
  readFrontmatterValues,
} from "../../src/documents/markdown/index.ts";

export interface Parser {
  /** Where mutations begin. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** What inputs are made of beside their own parts. */
  readonly words: readonly string[];
  /** Reads an input. Throws for a fault of the parser, and not for one of the input. */
  read(input: Uint8Array): void | Promise<void>;
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Passes over the errors that tell a caller what is wrong with an input. */
export async function refusing(
  kinds: readonly (new (...of: never[]) => Error)[],
  work: () => unknown,
) {
  try {
    await work();
  } catch (error) {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  }
}

export const textOf = (input: Uint8Array) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);

export function readMarkdown(text: string): void {
  const { entries, bodyOffset, unread } = readFrontmatter(text);
  must(bodyOffset >= 0 && bodyOffset <= text.length, "the body begins outside of the text");
  must(unread === null || unread.end <= text.length, "what is unread is outside of the text");
  const values = readFrontmatterValues(text);
  must(Object.keys(values).length <= entries.length, "values have keys that no entry has");
  parseMarkdown("a.md", text);
  let last = -1;
  for (const chunk of markdownChunks(text)) {
    must(chunk.start_offset >= last, "chunks are not in order");
    must(chunk.end_offset <= text.length, "a chunk ends behind the text");
    must(/\S/u.test(chunk.content), "a chunk is empty");
    last = chunk.start_offset;
  }
}
