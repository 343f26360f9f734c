import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { Random } from "../../support/random.ts";

/** Ways to ask for a document that one knows to exist. */
export const KINDS = ["title", "typo", "prefix", "description", "heading", "content"] as const;
export type Kind = (typeof KINDS)[number];

/** A query with the path of the one document that answers it. */
export interface KnownItemQuery {
  kind: Kind;
  text: string;
  path: string;
}

const QUERY_MAX_CHARS = 200;
const TITLE_MIN_CHARS = 6;
const PREFIX_TITLE_MIN_CHARS = 13;
const PREFIX_MIN_CHARS = 8;
const PREFIX_SHARE = 0.7;
const DESCRIPTION_MIN_WORDS = 6;
const HEADING_MIN_CHARS = 13;
const HEADINGS_PER_DOCUMENT = 3;
const CONTENT_MIN_WORDS = 50;
const CONTENT_QUERY_WORDS = 6;
const TYPO_MIN_CHARS = 5;

/**
 * Derives queries from documents: the title, the title with a typo in each longer word, the beginning
 * of the title, the description, a unique heading, and six successive longer words of the text.
 * Returns at most `perKind` queries of each kind.
 */
export function knownItemQueries(
  documents: readonly KnowledgeDocument[],
  seed: number,
  perKind: number,
): KnownItemQuery[] {
  const random = new Random(seed);
  const byKind: Record<Kind, Array<Omit<KnownItemQuery, "kind">>> = {
    title: [],
    typo: [],
    prefix: [],
    description: [],
    heading: [],
    content: [],
  };
  const titles = occurrences(documents.map((document) => [document.title]));
  const headings = occurrences(documents.map((document) => document.headings));
  for (const document of documents) {
    const { path, title } = document;
    if (title.length >= TITLE_MIN_CHARS && titles.get(title.toLowerCase()) === 1) {
      byKind.title.push({ path, text: title });
      const misspelt = title.split(" ").map((word) => misspell(word, random));
      if (misspelt.join(" ") !== title) byKind.typo.push({ path, text: misspelt.join(" ") });
      if (title.length >= PREFIX_TITLE_MIN_CHARS) {
        const length = Math.max(PREFIX_MIN_CHARS, Math.ceil(title.length * PREFIX_SHARE));
        byKind.prefix.push({ path, text: title.slice(0, length).trim() });
      }
    }
    const description = document.frontmatter.find((entry) => entry.key === "description")?.value;
    if (description !== undefined && description.split(" ").length >= DESCRIPTION_MIN_WORDS) {
      byKind.description.push({ path, text: description.slice(0, QUERY_MAX_CHARS) });
    }
    const own = document.headings.filter(
      (heading) => heading.length >= HEADING_MIN_CHARS && headings.get(heading.toLowerCase()) === 1,
    );
    for (const heading of own.slice(0, HEADINGS_PER_DOCUMENT)) {
      byKind.heading.push({ path, text: heading.slice(0, QUERY_MAX_CHARS) });
    }
    const passage = passageOf(document.content, random);
    if (passage !== null) byKind.content.push({ path, text: passage });
  }
  return KINDS.flatMap((kind) =>
    random.sample(byKind[kind], perKind).map((query) => ({ kind, ...query })),
  );
}

/** Number of documents in which each text occurs, ignoring case. */
function occurrences(texts: readonly string[][]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const own of texts) {
    for (const text of new Set(own.map((each) => each.toLowerCase()))) {
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  return counts;
}

/** Drops, swaps or replaces one letter inside an ASCII word of five or more letters. */
function misspell(word: string, random: Random): string {
  if (word.length < TYPO_MIN_CHARS || !/^[a-z]+$/i.test(word)) return word;
  const at = 1 + random.below(word.length - 2);
  const head = word.slice(0, at);
  switch (random.below(3)) {
    case 0:
      return head + word.slice(at + 1);
    case 1:
      return head + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
    default:
      return head + String.fromCharCode(97 + random.below(26)) + word.slice(at + 1);
  }
}

function passageOf(content: string, random: Random): string | null {
  const words = content
    .replace(/```[\s\S]*?```/g, " ")
    .replace(/[^\p{L}\p{N}\s-]/gu, " ")
    .split(/\s+/)
    .filter((word) => word.length > 3);
  if (words.length < CONTENT_MIN_WORDS) return null;
  const start = random.below(words.length - CONTENT_QUERY_WORDS);
  return words.slice(start, start + CONTENT_QUERY_WORDS).join(" ");
}
