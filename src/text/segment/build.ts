import { DocumentLanguages } from "./document-languages.ts";
import { BREAK, FIELD, MARK } from "./format.ts";
import { Interner } from "./interner.ts";
import { TermTable } from "./term-table.ts";
import { compressText, piecesOf } from "./text-blocks.ts";
import { TokenWriter } from "./token-writer.ts";
import type { KnowledgeDocument } from "./types.ts";
import { type StagedDocument, type TextBlock, writeSegment } from "./write-segment.ts";

const SPACES = /\s+/g;

/** Indexes documents. Open the result with `openSegment`, in this or any other thread. */
export function buildSegment(documents: readonly KnowledgeDocument[]): SharedArrayBuffer {
  const terms = new TermTable();
  const keys = new Interner();
  const tokens = new TokenWriter(terms);
  const languages = new DocumentLanguages(terms);
  const staged = documents.map((document) => stage(document, tokens, keys, languages));
  const forms = languages.forms();
  return writeSegment({ documents: staged, terms: terms.strings(), keys: keys.strings, forms });
}

function stage(
  document: KnowledgeDocument,
  tokens: TokenWriter,
  keys: Interner,
  languages: DocumentLanguages,
): StagedDocument {
  const addField = (field: number, text: string) => {
    tokens.mark(MARK + field);
    tokens.addText(text);
    tokens.addSpellings();
  };
  addPath(document.path, tokens);
  addField(FIELD.title, document.title);
  tokens.mark(MARK + FIELD.headings);
  for (const heading of document.headings) {
    tokens.addText(heading);
    tokens.mark(BREAK);
  }
  tokens.addSpellings();
  for (const { key, value } of document.frontmatter) {
    addField(FIELD.firstKey + keys.intern(key), value);
  }
  tokens.mark(MARK + FIELD.content);
  const blocks = addContent(document.content, tokens);
  const own = tokens.take();
  return {
    id: document.id,
    path: Buffer.from(document.path),
    title: document.title,
    frontmatter: JSON.stringify(
      document.frontmatter.map((entry) => ({ key: entry.key, value: entry.value })),
    ),
    tokens: own.tokens,
    language: languages.add(document, own.tokens, own.pieces),
    blocks,
  };
}

/** The ending of a name in Markdown, and before it that of a file which was converted to it. */
const ENDING = /(?<=.)(\.(?:html?|adoc|asciidoc|pdf|docx))?\.(?:md|mdx|markdown)$/i;

/** Adds the tokens of a path. The file name is a passage of its own, before the folder and the format. */
function addPath(path: string, tokens: TokenWriter): void {
  const start = path.lastIndexOf("/") + 1;
  const name = path.slice(start);
  const [ending = "", format = ""] = ENDING.exec(name) ?? [];
  tokens.mark(MARK + FIELD.path);
  tokens.addText(name.slice(0, name.length - ending.length));
  const others = path.slice(0, start) + format;
  if (others !== "") {
    tokens.mark(BREAK);
    tokens.addText(others);
  }
  tokens.addSpellings();
}

/** Adds the tokens of the content. Returns its text for snippets. */
function addContent(content: string, tokens: TokenWriter): TextBlock[] {
  const start = tokens.length;
  const blocks: TextBlock[] = [];
  // The pieces have the same tokens as the whole text, and locate the text of a token.
  for (const piece of piecesOf(content)) {
    const text = piece.replace(SPACES, " ").trim();
    blocks.push({ firstToken: tokens.length - start, bytes: compressText(text) });
    tokens.addText(piece);
  }
  tokens.addSpellings();
  return blocks;
}
