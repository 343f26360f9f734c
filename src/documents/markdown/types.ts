/** One frontmatter entry. A scalar value is plain text, a nested one compact JSON. */
export interface FrontmatterEntry {
  key: string;
  value: string;
}

/** A parsed Markdown file. */
export interface ParsedMarkdown {
  /**
   * The frontmatter's `title`, else the first heading of level 1, else a heading without visible text before it, else
   * the file name.
   */
  title: string;
  /** Plain text of every heading, in order. */
  headings: string[];
  /** In file order; empty without valid frontmatter. */
  frontmatter: FrontmatterEntry[];
  /** The text of the body that a reader sees, without its headings. */
  content: string;
  /** Where the body starts in the file, in UTF-16 code units. */
  bodyOffset: number;
  /** The reason why the frontmatter is text, in one line; null if the frontmatter was read or is absent. */
  warning: string | null;
}

/**
 * A chunk of a Markdown file: `text.slice(start_offset, end_offset)`, without the files in its addresses, and after the head
 * of the table that it continues.
 */
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
