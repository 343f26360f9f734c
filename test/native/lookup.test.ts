import { describe, expect, test } from "bun:test";
import { readCorpus } from "../../bench/relevance/corpus.ts";
import { FRAMES, framed } from "../../bench/relevance/frames.ts";
import { knownItemQueries } from "../../bench/relevance/queries.ts";
import { closeTextView, lookUpText, openTextView, stem } from "../../native/text.ts";
import { wordBreaks } from "../../native/words.ts";
import {
  buildSegment,
  ENGLISH,
  type KnowledgeDocument,
  mergeSegments,
} from "../../src/index/segments/index.ts";
import { Random } from "../../support/random.ts";
import { contentsOf } from "../../support/segment-contents.ts";
import { pathsOf, searchText, type TextHit, type TextView } from "../../support/text-search.ts";
import { dealtView, documentOf, viewOf } from "../unit/index/segments/documents.ts";
import { lookUpByReference } from "./lookup-reference/page.ts";
import { Vocabulary } from "./lookup-reference/plan-word.ts";
import { stemByReference } from "./lookup-reference/stem.ts";

const DOCUMENTS = 300;
/** So many that most of them can be ruled out early. */
const MANY_DOCUMENTS = 2_000;
const QUERIES = 40;
const SEGMENTS = 3;
const PAGE = 12;

/** Stems with several forms. The first are the most frequent, as in real text. */
const STEMS = (
  "render layout deploy config server template output module filter cache asset token build " +
  "publish section render taxonomy shortcode archetype permalink resource partial fragment"
).split(" ");
const ENDINGS = ["", "", "s", "ed", "ing"];
const FUNCTION_WORDS = "the of a to in is how do I and with for".split(" ");
const FOREIGN =
  "größe Übung ﬁnal 検索基盤 データ 🚀 Σίσυφος हिन्दी ภาษาไทย cafe\u0301 soft\u00adware 한국어".split(
    " ",
  );

/** Words of five languages, some of which quote others. */
const WORDS: Readonly<Record<string, string[]>> = {
  en: "notes note noted not the houses house running runs template die".split(" "),
  fr: "noter notés notes paramètre paramètres les créées créer not template".split(" "),
  de: "Häuser Haus Notiz Notizen Vorlage Vorlagen die größte Größe running template".split(" "),
  ru: "настройка настройки документы документ красивый notes running".split(" "),
  sv: "inställning inställningar användare användaren fil filer note".split(" "),
};
const COMPOUNDS =
  "Notizvorlagen Hausgröße användarinställningar filinställning Vorlagennotizhaus Notizvorlagx".split(
    " ",
  );

const random = new Random(7);
const pick = <T>(items: readonly T[]) => items[random.below(items.length)] as T;

/** A word, the more frequent the earlier its stem is in the list. */
function word(): string {
  if (random.below(3) === 0) return pick(FUNCTION_WORDS);
  if (random.below(12) === 0) return pick(FOREIGN);
  const at = Math.min(random.below(STEMS.length), random.below(STEMS.length));
  return `${STEMS[at]}${pick(ENDINGS)}`;
}

const textOf = (length: number) => Array.from({ length }, word).join(" ");

function randomView(count: number, segments: number): TextView {
  const documents = Array.from({ length: count }, (_, i) =>
    documentOf(`${i % 7}/document-${i}.md`, {
      title: `${textOf(2)} only${i}`,
      headings: [textOf(3)],
      frontmatter: [{ key: pick(["tags", 'a "key"']), value: textOf(2) }],
      content: textOf(random.below(i % 9 === 0 ? 900 : 120)),
    }),
  );
  const segmentOf = () => random.below(segments);
  return dealtView(documents, segmentOf, () => random.below(5) > 0);
}

/** Short and long queries, with typos, prefixes and rare words among them. */
function queryOf(): string {
  const words = Array.from({ length: 1 + random.below(9) }, word);
  if (random.below(3) === 0) words.push(`only${random.below(DOCUMENTS)}`);
  if (random.below(4) === 0) words.push(pick(STEMS).replace(/(.)(.)$/, "$2$1"));
  if (random.below(3) === 0) words.push(pick(STEMS).slice(0, 1 + random.below(4)));
  return words.join(" ");
}

const WHOLE = { shardIndex: 0, shardCount: 1 };
const SHARDS = [WHOLE, WHOLE, { shardIndex: 1, shardCount: 3 }];

/** Compares what is found with the reference; returns how much of it was marked in snippets. */
function expectReference(vocabulary: Vocabulary, query: string, limit: number): number {
  const shard = pick(SHARDS);
  const truth = lookUpByReference(vocabulary, query, shard);
  const { total, hits } = searchText(vocabulary.view, query, { ...shard, limit });
  expect([query, total]).toEqual([query, truth.length]);
  expect(hits).toHaveLength(Math.min(limit, total));
  const byPath = new Map(truth.map((item) => [item.path, item]));
  hits.forEach(({ path, score, matched_fields, snippet }, r) => {
    const item = byPath.get(path);
    expect(score).toBeCloseTo(item?.score as number, 3);
    expect(score).toBeCloseTo(truth[r]?.score as number, 3);
    if (r >= PAGE) return;
    expect([query, path, { matched_fields, snippet: snippet ?? null }]).toEqual([
      query,
      path,
      (item as NonNullable<typeof item>).shown(),
    ]);
  });
  return hits.reduce((sum, { snippet }) => sum + (snippet?.matches.length ?? 0), 0);
}

describe("a lookup", () => {
  test("has the order, scores, fields, snippets and total of simple code over random texts", () => {
    const vocabulary = new Vocabulary(randomView(DOCUMENTS, SEGMENTS));
    let marked = 0;
    for (let i = 0; i < QUERIES; i++) {
      marked += expectReference(vocabulary, queryOf(), pick([1, PAGE, 64, 200, DOCUMENTS]));
    }
    expect(marked).toBeGreaterThan(QUERIES);
  });

  test("has the order, scores, fields, snippets and total of simple code over the handbook", () => {
    const documents = readCorpus(`${import.meta.dir}/../../fixtures/docs`);
    const queries = knownItemQueries(documents, 3, 4).map((query) => query.text);
    const vocabulary = new Vocabulary(
      dealtView(
        documents,
        (i) => i % 2,
        () => true,
      ),
    );
    for (const query of [...queries, "転置インデックス", "cries organised", "s", "dying"]) {
      expect(expectReference(vocabulary, query, PAGE)).toBeGreaterThanOrEqual(0);
    }
  });

  test("has the order, scores, fields, snippets and total of simple code over texts in five languages", () => {
    const documents = Array.from({ length: DOCUMENTS }, (_, i) => {
      const language = pick(Object.keys(WORDS));
      const text = (length: number) =>
        Array.from({ length }, () => pick(WORDS[language] as string[])).join(" ");
      return documentOf(`${i}.md`, {
        title: text(2),
        frontmatter: [{ key: "lang", value: language }],
        content: text(random.below(60)),
      });
    });
    const view = dealtView(
      documents,
      () => random.below(SEGMENTS),
      () => random.below(5) > 0,
    );
    const vocabulary = new Vocabulary(view);
    const all = [...Object.values(WORDS).flat(), ...COMPOUNDS];
    for (let i = 0; i < QUERIES; i++) {
      const query = Array.from({ length: 1 + random.below(5) }, () => pick(all)).join(" ");
      expectReference(vocabulary, query, pick([PAGE, DOCUMENTS]));
    }
  });

  test("has the order, scores, fields, snippets and total of simple code over words that are written apart and as one", () => {
    const SPELLINGS =
      "time zone timezone time-zone zones file system filesystem max pool gates maxPoolGates max_pool_gates U.S.A. USA the in log login".split(
        " ",
      );
    const text = (length: number) => Array.from({ length }, () => pick(SPELLINGS)).join(" ");
    const documents = Array.from({ length: DOCUMENTS }, (_, i) =>
      documentOf(`${i}.md`, {
        title: text(1 + random.below(3)),
        headings: [text(2), text(1)],
        content: text(random.below(40)),
      }),
    );
    const view = dealtView(
      documents,
      () => random.below(SEGMENTS),
      () => random.below(5) > 0,
    );
    const vocabulary = new Vocabulary(view);
    for (let i = 0; i < QUERIES; i++) {
      expectReference(vocabulary, text(1 + random.below(4)), pick([PAGE, DOCUMENTS]));
    }
  });

  test("questions of 4 to 40 words over the sentences of the handbook have the results of an exhaustive ranking", () => {
    const sentences = readCorpus(`${import.meta.dir}/../../fixtures/docs`).flatMap(sentencesOf);
    expect(sentences.length).toBeGreaterThan(500);
    const vocabulary = new Vocabulary(
      dealtView(
        sentences,
        (i) => i % 2,
        () => true,
      ),
    );
    for (let length = 4; length <= 40; length += 6) {
      expectReference(vocabulary, questionOf(sentences, length), pick([PAGE, sentences.length]));
    }
  });

  test("a page has the first hits of the whole result, with the same scores and total", () => {
    const large = randomView(MANY_DOCUMENTS, 1);
    for (let i = 0; i < QUERIES; i++) {
      const query = queryOf();
      const whole = searchText(large, query, { limit: 100 });
      const page = searchText(large, query, { limit: PAGE });
      expect(page.total).toBe(whole.total);
      expect(page.hits).toEqual(whole.hits.slice(0, PAGE));
      expect(page.more).toBe(whole.total > PAGE);
    }
  });
});

/** The sentences of a file as files of their own. */
function sentencesOf({ path, title, content }: KnowledgeDocument): KnowledgeDocument[] {
  const sentences = content.split(/\n|(?<=[.:]) /).filter((sentence) => /\w/.test(sentence));
  return sentences.map((sentence, i) =>
    documentOf(`${path}-${i}.md`, { title: i === 0 ? title : "", content: sentence }),
  );
}

const wordsOf = (text: string) => text.split(/\s+/);

/** So many words, in the frame of a question if it fits: those of successive sentences. */
function questionOf(sentences: readonly KnowledgeDocument[], length: number): string {
  const frames = ["{}", ...(FRAMES.en as string[])];
  const frame = pick(frames.filter((each) => wordsOf(each).length <= length));
  const start = random.below(sentences.length - length);
  const following = sentences.slice(start).flatMap(({ content }) => wordsOf(content));
  return framed(frame, following.slice(0, length - wordsOf(frame).length + 1).join(" "));
}

/** All that a lookup finds by pages. */
function allPages(view: TextView, query: string, limit: number) {
  const hits: TextHit[] = [];
  let progress = "";
  for (let more = true; more; ) {
    const page = searchText(view, query, { limit, progress });
    hits.push(...page.hits);
    ({ more, progress } = page);
  }
  return hits;
}

/** The same documents in one segment, in several, and in segments that were merged. */
function segmentations(documents: readonly KnowledgeDocument[]): TextView[] {
  const several = dealtView(
    documents,
    (i) => i % 5,
    () => true,
  );
  const inputs = several.segments.map(({ buffer }) => ({ buffer, keep: null }));
  const merged = [inputs.slice(0, 2), inputs.slice(2)].map((part) =>
    contentsOf(mergeSegments(part).buffer),
  );
  return [viewOf(documents), several, { segments: merged, documentSets: [null, null] }];
}

describe("what is found does not depend on how documents are spread over segments", () => {
  test("a prefix of 12,000 different words finds all of their documents, page by page", () => {
    const documents = Array.from({ length: 12_000 }, (_, i) =>
      documentOf(`${i}.md`, { content: `qz${i.toString(36)} filler` }),
    );
    const [whole, ...others] = segmentations(documents).map((view) => {
      expect(searchText(view, "qz", { limit: 1 }).total).toBe(documents.length);
      return allPages(view, "qz", 2_500);
    });
    expect(new Set(pathsOf(whole as TextHit[])).size).toBe(documents.length);
    for (const hits of others) expect(hits).toEqual(whole as TextHit[]);
  });

  test("a misspelt word means the same words, however many it may mean", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const texts = [...letters].flatMap((letter) => [
      ...[`h${letter}rbour`, `harbou${letter}`, `${letter}arbour`, `ha${letter}bour`],
      ...[`harb${letter}our harbours`, `harbour${letter} harbouring`],
    ]);
    const documents = texts
      .filter((text) => !text.split(" ").includes("harbour"))
      .map((content, i) => documentOf(`${i}.md`, { content }));
    const query = "harbour 0";
    const [whole, ...others] = segmentations(documents).map((view) => searchText(view, query));
    expect(whole?.total).toBeGreaterThan(64);
    for (const result of others) expect(result).toEqual(whole as NonNullable<typeof whole>);
  });

  test("a word finds the forms of its stem in segments that do not hold the word itself", () => {
    const families = ["cry cries cried", "organise organizes", "die dying dies", "sky skies"];
    for (const family of families.map((words) => words.split(" "))) {
      const documents = family.map((content) => documentOf(`${content}.md`, { content }));
      for (const view of segmentations(documents)) {
        for (const query of family)
          expect(searchText(view, `${query} x`).total).toBe(family.length);
      }
    }
  });
});

test("words have the stems of another implementation of the same algorithm", () => {
  const corpus = readCorpus(`${import.meta.dir}/../../fixtures/docs`);
  const known = corpus.flatMap(({ content }) => content.toLowerCase().match(/[a-z]+/g) ?? []);
  const endings =
    "ational ization fulness biliti lessly ently ator alism ously iviti enci abli izer".split(" ");
  const others = Array.from({ length: 5_000 }, () => {
    const letters = Array.from({ length: 1 + random.below(7) }, () =>
      pick([..."aeiouybcdlnrstvwxy"]),
    );
    return (
      letters.join("") +
      pick([...endings, "", "s", "ed", "ing", "ies", "eed", "ll", "ise", "isation"])
    );
  });
  const words = new Set([
    ...known,
    ...others,
    ..."skies dying andes inning succeeded news".split(" "),
  ]);
  const segment = viewOf([documentOf("a.md", { content: [...words].join(" ") })]).segments[0];
  expect([...words].map((each) => [each, stem(each, ENGLISH)])).toEqual(
    [...words].map((each) => [each, stemByReference(each)]),
  );
  expect(segment?.reversed.length).toBe(words.size);
});

describe("arguments of a wrong shape throw before any memory is read", () => {
  const bytes = new Uint8Array(buildSegment([documentOf("a.md", { content: "some words" })]));
  /** Where the counts of sections and the sections themselves begin, in 32-bit words. */
  const [COUNTS_WORD, SECTIONS_WORD] = [2, 22];
  /** A copy of which one 32-bit word is changed. */
  const withWord = (at: number, value: number) => {
    const copy = bytes.slice();
    new Uint32Array(copy.buffer)[at] = value;
    return copy;
  };
  const NUMBER = 4_000_000_000;
  const page = { limit: 10, shardIndex: 0, shardCount: 1, progress: "", selfPath: "/", next: "" };
  const good = { view: NUMBER, query: "", wordBreaks, ...page };
  const open = openTextView as (...args: unknown[]) => void;
  const lookUp = (change: object = {}) => lookUpText({ ...good, ...change });

  test("the arguments of which the others are variants are accepted", () => {
    open(NUMBER, [bytes], [null]);
    expect(JSON.parse(new TextDecoder().decode(lookUp().json))).toMatchObject({ data: [] });
  });

  test.each<[string, unknown[]]>([
    ["no segments", [NUMBER, undefined, []]],
    ["no documents", [NUMBER, [bytes], undefined]],
    ["a segment of another type", [NUMBER, [bytes.buffer], [null]]],
    ["documents of another type", [NUMBER, [bytes], [[1]]]],
    ["a segment that is shorter than its header", [NUMBER, [bytes.subarray(0, 64)], [null]]],
    ["a segment that is cut off", [NUMBER, [bytes.slice(0, 136)], [null]]],
    [
      "a segment at an odd address",
      [NUMBER, [new Uint8Array(bytes.length + 1).subarray(1)], [null]],
    ],
    ["a section beyond the segment", [NUMBER, [withWord(COUNTS_WORD, 2 ** 30)], [null]]],
    ["sections of different lengths", [NUMBER, [withWord(COUNTS_WORD + 2, 7)], [null]]],
    ["keys that start behind their end", [NUMBER, [withWord(SECTIONS_WORD + 4, 2 ** 31)], [null]]],
    ["a negative number", [-1, [bytes], [null]]],
  ])("a view with %s", (_, args) => {
    expect(() => open(...args)).toThrow(TypeError);
  });

  test.each<[string, object]>([
    ["a query of another type", { query: 7 }],
    ["breaks of words by another type", { wordBreaks: [1, 1] }],
    ["breaks of another type", { query: "東京", wordBreaks: () => [2, 1] }],
    [
      "breaks before the end of the query",
      { query: "東京", wordBreaks: () => Uint32Array.of(1, 1) },
    ],
    ["breaks behind the query", { query: "東京", wordBreaks: () => Uint32Array.of(3, 1) }],
    ["breaks without order", { query: "東京", wordBreaks: () => Uint32Array.of(2, 1, 1, 1, 2, 1) }],
    ["no breaks", { query: "東京", wordBreaks: () => new Uint32Array(0) }],
    ["a limit of 0", { limit: 0 }],
    ["a shard beyond the last", { shardIndex: 1 }],
    ["no shards", { shardCount: 0 }],
    ["progress of another type", { progress: null }],
  ])("a lookup with %s", (_, change) => {
    open(NUMBER, [bytes], [null]);
    expect(() => lookUp(change)).toThrow(TypeError);
  });

  test("a lookup without a request throws", () => {
    open(NUMBER, [bytes], [null]);
    const call = lookUpText as (...args: unknown[]) => unknown;
    for (const args of [[], [undefined], [7]]) expect(() => call(...args)).toThrow(TypeError);
    closeTextView(NUMBER);
  });

  test("a lookup in a view that is not open throws", () => {
    closeTextView(NUMBER);
    expect(() => lookUp()).toThrow("the view is not open");
  });
});
