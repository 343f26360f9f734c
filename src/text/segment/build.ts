import { DOCUMENT_MAX_WORDS, RERANK_MAX_WORDS } from "../../shared/limits.ts";
import { splitIdentifiers, tokenize } from "../analysis/tokenize.ts";
import { BREAK, FIELD, MARK, SUBWORDS } from "./format.ts";
import { plainText } from "./plain-text.ts";
import { Interner, runToEnd, type StagedDocument, type TextBlock } from "./staging.ts";
import { compressText, piecesOf } from "./text-blocks.ts";
import type { KnowledgeDocument } from "./types.ts";
import { writeSegment } from "./write-segment.ts";

/** Indexes documents. Open the result with `openSegment`, in this or any other thread. */
export function buildSegment(documents: readonly KnowledgeDocument[]): SharedArrayBuffer {
  const terms = new Interner();
  const keys = new Interner();
  const staged = documents.map((document) => stage(document, terms, keys));
  return runToEnd(writeSegment({ documents: staged, terms: terms.strings, keys: keys.strings }));
}

function stage(document: KnowledgeDocument, terms: Interner, keys: Interner): StagedDocument {
  const tokens: number[] = [];
  const addTokens = (text: string) => {
    for (const token of tokenize(text)) {
      if (tokens.length >= DOCUMENT_MAX_WORDS) return;
      tokens.push(terms.intern(token));
    }
  };
  // Subwords follow the text, so that they do not separate words that are next to each other.
  const addSubwords = (text: string) => {
    const subwords = splitIdentifiers(text);
    if (subwords.length === 0) return;
    tokens.push(SUBWORDS);
    for (const subword of subwords) addTokens(subword);
  };
  const addField = (field: number, text: string) => {
    tokens.push(MARK + field);
    addTokens(text);
    addSubwords(text);
  };
  addField(FIELD.path, document.path.replace(/\.(?:md|mdx)$/i, ""));
  addField(FIELD.title, document.title);
  tokens.push(MARK + FIELD.headings);
  for (const heading of document.headings) {
    addTokens(heading);
    tokens.push(BREAK);
  }
  addSubwords(document.headings.join("\n"));
  for (const { key, value } of document.frontmatter) {
    addField(FIELD.firstKey + keys.intern(key), value);
  }
  tokens.push(MARK + FIELD.content);
  const contentStart = tokens.length;
  const blocks: TextBlock[] = [];
  // Pieces have the same tokens as the whole, and tell where the text of a token is.
  for (const piece of piecesOf(document.content)) {
    const firstToken = tokens.length - contentStart;
    if (firstToken < RERANK_MAX_WORDS)
      blocks.push({ firstToken, bytes: compressText(plainText(piece)) });
    addTokens(piece);
  }
  addSubwords(document.content);
  return {
    id: document.id,
    path: Buffer.from(document.path),
    title: document.title,
    frontmatter: JSON.stringify(
      document.frontmatter.map((entry) => ({ key: entry.key, value: entry.value })),
    ),
    tokens: Uint32Array.from(tokens),
    blocks,
  };
}
