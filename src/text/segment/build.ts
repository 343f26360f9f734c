import { DOCUMENT_MAX_WORDS } from "../../shared/limits.ts";
import { splitIdentifiers, tokenize } from "../analysis/tokenize.ts";
import { BREAK, FIELD, MARK, PARTS } from "./format.ts";
import type { KnowledgeDocument } from "./types.ts";
import { type StagedDocument, writeSegment } from "./writer.ts";

/** Indexes documents; the result is opened with `openSegment`, here or in any other thread. */
export function buildSegment(documents: readonly KnowledgeDocument[]): SharedArrayBuffer {
  const terms = new Numbering();
  const keys = new Numbering();
  const staged = documents.map((document) => stage(document, terms, keys));
  return writeSegment({ documents: staged, terms: terms.names, keys: keys.names });
}

/** Gives every distinct string the next number. */
export class Numbering {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.length;
    // A word cut out of a document keeps the whole document alive in memory; a copy does not.
    const own = Buffer.from(name, "utf16le").toString("utf16le");
    this.names.push(own);
    this.#numbers.set(own, number);
    return number;
  }
}

function stage(document: KnowledgeDocument, terms: Numbering, keys: Numbering): StagedDocument {
  const words: number[] = [];
  const addWords = (text: string) => {
    for (const word of tokenize(text)) {
      if (words.length >= DOCUMENT_MAX_WORDS) return;
      words.push(terms.numberOf(word));
    }
  };
  const addField = (field: number, text: string) => {
    words.push(MARK + field);
    addWords(text);
    addParts(text);
  };
  // Parts of identifiers stand behind the text, where they come between no neighbours.
  const addParts = (text: string) => {
    const parts = splitIdentifiers(text);
    if (parts.length === 0) return;
    words.push(PARTS);
    for (const part of parts) addWords(part);
  };
  addField(FIELD.path, document.path.replace(/\.(?:md|mdx)$/i, ""));
  addField(FIELD.title, document.title);
  words.push(MARK + FIELD.headings);
  for (const heading of document.headings) {
    addWords(heading);
    words.push(BREAK);
  }
  addParts(document.headings.join("\n"));
  for (const { key, value } of document.frontmatter) {
    addField(FIELD.firstKey + keys.numberOf(key), value);
  }
  addField(FIELD.content, document.content);
  return {
    id: document.id,
    path: Buffer.from(document.path),
    title: document.title,
    frontmatter: JSON.stringify(
      document.frontmatter.map((entry) => ({ key: entry.key, value: entry.value })),
    ),
    words: Uint32Array.from(words),
  };
}
