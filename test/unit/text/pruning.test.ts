import { expect, test } from "bun:test";
import { search, type View } from "../../../src/text/index.ts";
import { planQuery } from "../../../src/text/query/plan.ts";
import { scoreSegment } from "../../../src/text/query/score.ts";
import { kthLargest } from "../../../src/text/query/top-k.ts";
import { hasDocument } from "../../../src/text/segment/document-set.ts";
import { Random } from "../../../support/random.ts";
import { dealtView, documentOf, pathsOf, WHOLE } from "./documents.ts";

const DOCUMENTS = 600;
const QUERIES = 150;
const SEGMENTS = 3;
const EVERYTHING = { best: Number.POSITIVE_INFINITY, least: Number.NEGATIVE_INFINITY };

/** Stems with several forms. The first are the most frequent, as in real text. */
const STEMS = (
  "render layout deploy config server template output module filter cache asset token build " +
  "publish section render taxonomy shortcode archetype permalink resource partial fragment"
).split(" ");
const ENDINGS = ["", "", "s", "ed", "ing"];
const FUNCTION_WORDS = "the of a to in is how do I and with for".split(" ");

const random = new Random(7);
const pick = <T>(items: readonly T[]) => items[random.below(items.length)] as T;

/** A word, the more frequent the earlier its stem is in the list. */
function word(): string {
  if (random.below(3) === 0) return pick(FUNCTION_WORDS);
  const at = Math.min(random.below(STEMS.length), random.below(STEMS.length));
  return `${STEMS[at]}${pick(ENDINGS)}`;
}

const textOf = (length: number) => Array.from({ length }, word).join(" ");

const documents = Array.from({ length: DOCUMENTS }, (_, i) =>
  documentOf(`${i % 7}/document-${i}.md`, {
    title: `${textOf(2)} only${i}`,
    headings: [textOf(3)],
    content: textOf(random.below(120)),
  }),
);
const view: View = dealtView(
  documents,
  () => random.below(SEGMENTS),
  () => random.below(5) > 0,
);

/** Short and long queries, with typos, prefixes and rare words among them. */
function queryOf(): string {
  const words = Array.from({ length: 1 + random.below(12) }, word);
  if (random.below(3) === 0) words.push(`only${random.below(DOCUMENTS)}`);
  if (random.below(4) === 0) words.push(pick(STEMS).replace(/(.)(.)$/, "$2$1"));
  if (random.below(3) === 0) words.push(pick(STEMS).slice(0, 2 + random.below(3)));
  return words.join(" ");
}

test("pruning counts every match, and keeps the best of a segment with the same scores", () => {
  let pruned = 0;
  for (let i = 0; i < QUERIES; i++) {
    const plan = planQuery(view, queryOf());
    const best = pick([1, 5, 64]);
    const shard = pick([WHOLE, { shardIndex: 1, shardCount: 3 }]);
    view.segments.forEach((segment, s) => {
      const set = view.documentSets[s] ?? null;
      const all = scoreSegment(segment, s, set, shard, plan, EVERYTHING);
      const some = scoreSegment(segment, s, set, shard, plan, { best, least: 0 });
      expect(some.total).toBe(all.total);
      expect(all.documents).toHaveLength(all.total);
      expect([...all.documents].every((document) => hasDocument(set, document))).toBe(true);
      const kept = new Map([...some.documents].map((document, d) => [document, some.scores[d]]));
      const least = [...all.scores].sort((a, b) => b - a)[best - 1] ?? 0;
      all.documents.forEach((document, d) => {
        const score = all.scores[d] as number;
        if (score >= least) expect(kept.get(document)).toBe(score);
      });
      if (some.documents.length < all.total) pruned++;
    });
  }
  expect(pruned).toBeGreaterThan(QUERIES / 4);
});

test("a page has the first hits of the whole result, with the same scores and total", () => {
  for (let i = 0; i < QUERIES; i++) {
    const query = queryOf();
    const whole = search(view, { query, ...WHOLE });
    const page = search(view, { query, limit: 12, ...WHOLE });
    expect(page.total).toBe(whole.total);
    expect(pathsOf(view, page.hits)).toEqual(pathsOf(view, whole.hits.slice(0, 12)));
    expect(page.hits).toEqual(whole.hits.slice(0, 12));
    expect(page.more).toBe(whole.total > 12);
  }
});

test("the k-th largest number is that of the sorted numbers", () => {
  for (let i = 0; i < QUERIES; i++) {
    const values = Float32Array.from({ length: 50 + random.below(50) }, () => random.below(20));
    const places = Uint32Array.from(values.keys());
    const k = 1 + random.below(values.length);
    const sorted = values.toSorted((a, b) => b - a);
    expect(kthLargest(values, places, values.length, k)).toBe(sorted[k - 1] as number);
  }
});
