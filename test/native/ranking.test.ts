import { describe, expect, test } from "bun:test";
import { rankText, type TextSegmentMemory } from "../../native/index.ts";
import { search, type View } from "../../src/text/index.ts";
import { planQuery } from "../../src/text/query/plan.ts";
import { rank } from "../../src/text/query/rank.ts";
import { Random } from "../../support/random.ts";
import { dealtView, documentOf, pathsOf, WHOLE } from "../unit/text/documents.ts";
import { rankByReference } from "./ranking-reference.ts";

const DOCUMENTS = 600;
/** So many that most of them can be ruled out early. */
const MANY_DOCUMENTS = 10_000;
const QUERIES = 150;
const SEGMENTS = 3;

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

function randomView(count: number, segments: number): View {
  const documents = Array.from({ length: count }, (_, i) =>
    documentOf(`${i % 7}/document-${i}.md`, {
      title: `${textOf(2)} only${i}`,
      headings: [textOf(3)],
      content: textOf(random.below(120)),
    }),
  );
  const segmentOf = () => random.below(segments);
  return dealtView(documents, segmentOf, () => random.below(5) > 0);
}

const view = randomView(DOCUMENTS, SEGMENTS);

/** Short and long queries, with typos, prefixes and rare words among them. */
function queryOf(): string {
  const words = Array.from({ length: 1 + random.below(12) }, word);
  if (random.below(3) === 0) words.push(`only${random.below(DOCUMENTS)}`);
  if (random.below(4) === 0) words.push(pick(STEMS).replace(/(.)(.)$/, "$2$1"));
  if (random.below(3) === 0) words.push(pick(STEMS).slice(0, 2 + random.below(3)));
  return words.join(" ");
}

const SHARDS = [WHOLE, WHOLE, { shardIndex: 1, shardCount: 3 }];

describe("a ranking of text", () => {
  test("has the order, the scores and the total of a ranking that scores every document", () => {
    let found = 0;
    for (let i = 0; i < QUERIES; i++) {
      const query = queryOf();
      const plan = planQuery(view, query);
      const shard = pick(SHARDS);
      const truth = rankByReference(view, plan, shard);
      const { total, ranked } = rank(view, plan, shard, pick([1, 12, 64, 200, DOCUMENTS]));
      expect(total).toBe(truth.length);
      const scores = new Map(truth.map(({ path, score }) => [path, score]));
      pathsOf(view, ranked).forEach((path, r) => {
        const { score } = ranked[r] as { score: number };
        expect(score).toBeCloseTo(scores.get(path) as number, 3);
        expect(score).toBeCloseTo(truth[r]?.score as number, 3);
      });
      found += ranked.length;
    }
    expect(found).toBeGreaterThan(QUERIES);
  });

  test("a page has the first hits of the whole result, with the same scores and total", () => {
    const large = randomView(MANY_DOCUMENTS, 1);
    for (let i = 0; i < QUERIES; i++) {
      const query = queryOf();
      const whole = search(large, { query, ...WHOLE });
      const page = search(large, { query, limit: 12, ...WHOLE });
      expect(page.total).toBe(whole.total);
      expect(page.hits).toEqual(whole.hits.slice(0, 12));
      expect(page.more).toBe(whole.total > 12);
    }
  });
});

describe("arguments of a wrong shape throw before any memory is read", () => {
  const segment = view.segments[0] as View["segments"][number];
  const memory: TextSegmentMemory = {
    buffer: new Uint8Array(segment.buffer),
    sections: segment.rankedSections,
    documents: null,
  };
  const layout = Uint32Array.of(0);
  const numbers = new Float64Array(20).fill(1);
  const frequencies = new Float32Array(8_192);
  const call =
    (...args: unknown[]) =>
    () =>
      (rankText as (...args: unknown[]) => unknown)(...args);
  const withSection = (at: number, value: number): TextSegmentMemory => ({
    ...memory,
    sections: memory.sections.with(at, value),
  });

  test("the arguments of which the others are variants are accepted", () => {
    expect(rankText([memory], layout, numbers, frequencies)).toEqual(Float64Array.of(0));
  });

  test.each<[string, unknown[]]>([
    ["no segments", [undefined, layout, numbers, frequencies]],
    ["a segment that is no object", [[1], layout, numbers, frequencies]],
    ["a segment without a buffer", [[{ ...memory, buffer: null }], layout, numbers, frequencies]],
    [
      "too few sections",
      [[{ ...memory, sections: new Float64Array(4) }], layout, numbers, frequencies],
    ],
    ["a section beyond the buffer", [[withSection(11, 2 ** 40)], layout, numbers, frequencies]],
    ["a section at a negative offset", [[withSection(4, -8)], layout, numbers, frequencies]],
    ["a section at an odd offset", [[withSection(4, 129)], layout, numbers, frequencies]],
    ["sections of different lengths", [[withSection(7, 1)], layout, numbers, frequencies]],
    ["documents of another type", [[{ ...memory, documents: [1] }], layout, numbers, frequencies]],
    ["a layout of another type", [[memory], [0], numbers, frequencies]],
    ["a layout that ends early", [[memory], Uint32Array.of(3, 1), numbers, frequencies]],
    ["numbers that end early", [[memory], layout, numbers.subarray(0, 5), frequencies]],
    ["too many words", [[memory], Uint32Array.of(256), numbers, frequencies]],
    ["a limit of 0", [[memory], layout, numbers.with(17, 0), frequencies]],
    ["no shards", [[memory], layout, numbers.with(19, 0), frequencies]],
    ["too few frequencies", [[memory], layout, numbers, new Float32Array(4_096)]],
    [
      "a term that the segment does not have",
      [
        [memory],
        Uint32Array.of(1, 1, 1, 0, segment.termCount),
        new Float64Array(32).fill(1),
        frequencies,
      ],
    ],
  ])("%s", (_, args) => {
    expect(call(...args)).toThrow(TypeError);
  });
});
