import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { Random } from "../../support/random.ts";

/**
 * Generates many documents from few by combining titles, headings and paragraphs of different ones.
 * Words keep the frequencies of real prose. Every title gets a unique word, so that the dictionary
 * grows with the collection, as it does in real ones.
 */
export function synthesise(
  sources: readonly KnowledgeDocument[],
  count: number,
  seed: number,
): KnowledgeDocument[] {
  const random = new Random(seed);
  const paragraphs = sources.flatMap((source) =>
    source.content.split(/\n\s*\n/).filter((paragraph) => paragraph.trim().length > 40),
  );
  const titles = sources.map((source) => source.title);
  const headings = sources.flatMap((source) => source.headings);
  const pick = <T>(items: readonly T[]) => items[random.below(items.length)] as T;
  return Array.from({ length: count }, (_, i) => {
    const title = `${pick(titles)} ${nameOf(i)}`;
    const length = 4 + random.below(16);
    return {
      id: `document-${i}`,
      path: `synthetic/${i % 100}/${nameOf(i)}.md`,
      title,
      headings: Array.from({ length: 2 + random.below(4) }, () => pick(headings)),
      frontmatter: [
        { key: "title", value: title },
        { key: "description", value: pick(paragraphs).slice(0, 160) },
      ],
      content: Array.from({ length }, () => pick(paragraphs)).join("\n\n"),
    };
  });
}

const SYLLABLES = [
  "ba",
  "do",
  "fi",
  "ga",
  "ke",
  "lu",
  "mi",
  "no",
  "pa",
  "re",
  "si",
  "tu",
  "ve",
  "zo",
];

/** A unique pronounceable word for each number. */
function nameOf(number: number): string {
  let name = "";
  for (let rest = number; name === "" || rest > 0; rest = Math.floor(rest / SYLLABLES.length)) {
    name += SYLLABLES[rest % SYLLABLES.length];
  }
  return `${name}x`;
}
