import type { FrontmatterEntry } from "../../shared/frontmatter-entry.ts";

/** One knowledge item to index: one version of one Markdown file. */
export interface KnowledgeDocument {
  /** Identifies the file version. Unique within a segment and opaque here; a UUID in the service. */
  id: string;
  /** Path of the file in its project; decides order and shard. */
  path: string;
  title: string;
  headings: string[];
  /** In file order. */
  frontmatter: FrontmatterEntry[];
  /** The text of the body that a reader sees, without its headings. */
  content: string;
}
