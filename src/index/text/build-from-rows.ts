import { parseMarkdown } from "../../documents/markdown/index.ts";
import { buildSegment, type KnowledgeDocument } from "../segments/index.ts";

/** A Markdown file version with its text. */
export interface TextRow {
  readonly id: string;
  readonly path: string;
  readonly content: string;
}

function documentOf({ id, path, content: text }: TextRow): KnowledgeDocument {
  const { title, headings, frontmatter, content } = parseMarkdown(path, text);
  return { id, path, title, headings, frontmatter, content };
}

/** Parses the rows and indexes them as one segment. */
export function buildFromRows(rows: readonly TextRow[]): SharedArrayBuffer {
  return buildSegment(rows.map(documentOf));
}
