import type { FrontmatterEntry } from "../text/index.ts";

/** What a Markdown file says about itself. */
export interface ParsedMarkdown {
  /** The frontmatter's `title`, else the first level-1 heading, else the file name. */
  title: string;
  /** Plain text of every heading outside code blocks, in order. */
  headings: string[];
  /** In file order; empty when there is none or when it could not be read. */
  frontmatter: FrontmatterEntry[];
  /** The body without frontmatter and without heading lines. */
  content: string;
  /** Where the body starts in the file, in UTF-16 code units. */
  bodyOffset: number;
  /** Why the frontmatter was ignored, as one clear sentence; null when all is well. */
  fault: string | null;
}

/** A piece of a Markdown file. `text.slice(start_offset, end_offset) === content`. */
export interface MarkdownChunk {
  content: string;
  /** In UTF-16 code units of the whole file, frontmatter included. */
  start_offset: number;
  /** Exclusive. */
  end_offset: number;
  /** Estimated as words and punctuation marks, CJK characters one each. */
  token_count: number;
  metadata: {
    /** The headings above the piece, outermost first. */
    headings: string[];
  };
}
