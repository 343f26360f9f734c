import type { FrontmatterEntry } from "../shared/frontmatter-entry.ts";

/** A parsed Markdown file. */
export interface ParsedMarkdown {
  /** The frontmatter's `title`, else the first level-1 heading, else the file name. */
  title: string;
  /** Plain text of every heading outside code blocks, in order. */
  headings: string[];
  /** In file order; empty if the file has none or it is invalid. */
  frontmatter: FrontmatterEntry[];
  /** The body without frontmatter and without heading lines. */
  content: string;
  /** Where the body starts in the file, in UTF-16 code units. */
  bodyOffset: number;
  /** Why the frontmatter was ignored, in one line; null if it was not. */
  warning: string | null;
}

/** A chunk of a Markdown file. `text.slice(start_offset, end_offset) === content`. */
export interface MarkdownChunk {
  content: string;
  /** In UTF-16 code units of the whole file, frontmatter included. */
  start_offset: number;
  /** Exclusive. */
  end_offset: number;
  /** An estimate: words, punctuation marks and single CJK characters. */
  token_count: number;
  metadata: {
    /** The headings above the chunk, outermost first. */
    headings: string[];
  };
}
