import { describe, expect, test } from "bun:test";
import {
  addFields,
  openFields,
  shareFields,
  shareFilteredScope,
  unshareFilteredScope,
} from "../../native/fields.ts";
import * as native from "../../native/index.ts";
import { retrieve as retrieveNatively } from "../../native/retrieval.ts";
import { plainText, renderedContent, renderedHeading } from "../../native/testing.ts";
import { openTextView } from "../../native/text.ts";
import { wordBreaks } from "../../native/words.ts";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import type { RetrieveRequest } from "../../src/engine/requests/request.ts";
import { buildSegment, newView } from "../../src/index/segments/index.ts";
import { appendBatch } from "../../src/index/vector/chunk-batch.ts";
import { renderChunk } from "../../src/index/versions/chunk-content.ts";
import type { ChunkRow, EmptyVersionRow } from "../../src/index/versions/version-index.ts";
import { cosineOf, nearVector, randomVector } from "../../support/api/versions.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { Random } from "../../support/random.ts";
import { retrieve, SCOPE } from "../../support/requests.ts";
import { contentsOf } from "../../support/segment-contents.ts";
import { Vocabulary } from "./lookup-reference/plan-word.ts";
import { type ReferenceFile, retrieveByReference } from "./retrieval-reference/retrieve.ts";
import { freshProject } from "./support.ts";

const DIMENSION = 768;
const FILES = 150;
const TOPICS = 6;
/** Native code adds up feedback in single precision. */
const TOLERANCE = 1e-4;

const random = new Random(11);
const pick = <T>(items: readonly T[]) => items[random.below(items.length)] as T;
const WORDS =
  "harbour sail anchor mast rudder keel tide wind chart compass lantern rope deck cabin hull crew".split(
    " ",
  );
const word = () => WORDS[Math.min(random.below(WORDS.length), random.below(WORDS.length))];
const sentence = (length: number) => Array.from({ length }, word).join(" ");

const topics = Array.from({ length: TOPICS }, (_, i) => randomVector(DIMENSION, i + 1));
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

interface TestFile extends ReferenceFile {
  readonly versionId: string;
  readonly text: string;
}

let chunks = 0;

/** A file of some passages, each under a heading. Every 20th has no chunk with a vector. */
function fileOf(number: number): TestFile {
  const topic = pick(topics);
  const passages = Array.from({ length: 1 + random.below(4) }, (_, i) => {
    return `## ${sentence(2)} ${i}\n\n${sentence(5 + random.below(60))} only${number}`;
  });
  const own = passages.map((content, i) => ({
    id: idOf(++chunks),
    content,
    vector: number % 20 === 0 ? null : nearVector(topic, 0.5 + i, number * 10 + i + 100),
  }));
  const text = `# ${sentence(3)}\n\n${passages.join("\n\n")}`;
  return { path: `${number % 7}/${number}.md`, versionId: idOf(1e9 + number), text, chunks: own };
}

const files = Array.from({ length: FILES }, (_, i) => fileOf(i));
const rowOf = (file: TestFile, index: number): ChunkRow => ({
  id: file.chunks[index]?.id as string,
  index,
  metadata: JSON.stringify({ headings: [file.chunks[index]?.content.slice(3).split("\n")[0]] }),
  file_version_id: file.versionId,
  file_id: file.versionId,
  file_path: file.path,
  content: file.chunks[index]?.content as string,
  start_offset: 0,
  end_offset: 1,
  token_count: 1,
  embedding: null,
});

const project = `retrieval ${process.pid}`;
native.openProject(project);
onCleanup(async () => native.dropProject(project));
const embedded = files.flatMap((file) =>
  file.chunks.flatMap(({ vector }, i) =>
    vector === null ? [] : [{ row: rowOf(file, i), vector }],
  ),
);
const others = files.flatMap((file) =>
  file.chunks.flatMap(({ vector }, i) => (vector === null ? [rowOf(file, i)] : [])),
);

/** Appends chunks to an index. Returns the range of each. */
function append(
  rows: readonly ChunkRow[],
  vectors: ReadonlyArray<Float32Array | null>,
  dimension: number,
) {
  const ordinals = native.append(project, dimension, appendBatch(rows, vectors, dimension));
  const ranges = Uint32Array.from([...ordinals].flatMap((ordinal) => [ordinal, 1]));
  return { dimension, ranges };
}

const withVectors = append(
  embedded.map(({ row }) => row),
  embedded.map(({ vector }) => vector),
  DIMENSION,
);
const withoutVectors = append(
  others,
  others.map(() => null),
  0,
);
native.setScope(project, "scope", [withVectors, withoutVectors]);

const documents = files.map(({ versionId: id, path, text }) => ({
  id,
  path,
  ...parseMarkdown(path, text),
}));
const parts = [documents.slice(0, FILES / 2), documents.slice(FILES / 2)];
const segments = parts.map((part) => contentsOf(buildSegment(part)));
const vocabulary = new Vocabulary({ segments, documentSets: [null, null] });
const view = newView(
  segments.map(({ buffer }, i) => ({ key: `part ${i}`, buffer: buffer as SharedArrayBuffer })),
  [null, null],
);

interface Hit {
  readonly chunk: { readonly id: string } | null;
  readonly score: number;
  readonly match_type: string;
  readonly scores: { readonly semantic: number | null; readonly keyword: number | null };
  readonly heading: string | null;
  readonly highlight: { readonly text: string; readonly matches: readonly [number, number][] };
}

function ask(options: Partial<RetrieveRequest> & Pick<RetrieveRequest, "mode">) {
  const { json, work } = retrieve(view, { project, ...options });
  const body = JSON.parse(new TextDecoder().decode(json));
  return { ...body, work, hits: body.data as Hit[] };
}

const MODES = ["semantic", "keyword", "hybrid"] as const;

/** Questions with few and many words, one of which may name a single file. */
function questions(count: number) {
  return Array.from({ length: count }, (_, i) => {
    const words = sentence(1 + random.below(8));
    const query = i % 4 === 0 ? `${words} only${random.below(FILES)}` : words;
    return { query, vector: nearVector(pick(topics), 0.8, 5_000 + i) };
  });
}

describe("a retrieval", () => {
  for (const mode of MODES) {
    test(`by ${mode} finds what exhaustive comparison finds, in its order`, () => {
      for (const { query, vector } of questions(8)) {
        for (const threshold of [0, 0.5]) {
          const limit = pick([10, 20]);
          const asked = { mode, query, vector, threshold, limit };
          const truth = retrieveByReference(vocabulary, files, asked);
          const { hits } = ask(asked);
          const expected = new Map(truth.map((hit) => [hit.key, hit]));
          expect(hits).toHaveLength(Math.min(limit, truth.length));
          for (const [i, { chunk, score, scores, match_type }] of hits.entries()) {
            const own = expected.get(chunk?.id as string);
            if (own === undefined) throw new Error(`${query}: ${chunk?.id} is not expected`);
            expect(Math.abs(score - own.score)).toBeLessThan(TOLERANCE);
            // Others with nearly the same score may be in its place.
            expect(Math.abs(score - (truth[i]?.score as number))).toBeLessThan(TOLERANCE);
            expect(scores.keyword ?? -1).toBeCloseTo(own.keyword ?? -1, 3);
            expect(scores.semantic ?? -1).toBeCloseTo(own.semantic ?? -1, 6);
            const { keyword, semantic } = own;
            const type = keyword === null ? "semantic" : semantic === null ? "keyword" : "hybrid";
            expect(match_type).toBe(type);
          }
        }
      }
    });
  }

  test("in short pages holds every hit once, and by one kind of score in the order of a long page", () => {
    for (const { query, vector } of questions(8)) {
      for (const mode of MODES) {
        const all = ask({ mode, query, vector, limit: 21 });
        const paged: Hit[] = [];
        for (let progress = "", more = true; more && paged.length < 21; ) {
          const page = ask({ mode, query, vector, limit: 7, progress, next: "next" });
          paged.push(...page.hits);
          ({ progress, more } = page.work);
          expect(page.page_info.next).toBe(more ? "next" : null);
        }
        const keys = paged.map(({ chunk }) => chunk?.id);
        expect(new Set(keys).size).toBe(keys.length);
        const expected = all.hits.map(({ chunk }: Hit) => chunk?.id);
        const scores = paged.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        // More hits by both have further candidates by vector, which may come before others.
        if (mode !== "hybrid") expect(keys.slice(0, expected.length)).toEqual(expected);
      }
    }
  });

  test("scores no page above the one before, also where the files change in between", () => {
    const [part] = segments as [(typeof segments)[number]];
    const shorter = newView([{ key: "part 0", buffer: part.buffer as SharedArrayBuffer }], [null]);
    for (const { query, vector } of questions(8)) {
      for (const mode of MODES) {
        const asked = { project, mode, query, vector, limit: 12, threshold: 0 };
        const paged: Hit[] = [];
        let progress = "";
        for (let [of, more] = [shorter, true]; more; of = view) {
          const { json, work } = retrieve(of, { ...asked, progress });
          paged.push(...JSON.parse(new TextDecoder().decode(json)).data);
          ({ progress, more } = work);
        }
        const scores = paged.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        const keys = paged.map(({ chunk }) => chunk?.id);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }
  });

  test("groups of hits that are given are those of hits that are found, or it says that there are too few", () => {
    const vectors = new Map(embedded.map(({ row, vector }) => [row.id, vector]));
    const all = files.map((file) => ({
      id: file.versionId,
      chunks: file.chunks.flatMap(({ id }, i) => [
        renderChunk(rowOf(file, i)),
        vectors.get(id) ?? null,
      ]),
    }));
    for (const { query, vector } of questions(4)) {
      const cosine = (of: Float32Array) => cosineOf(of, vector);
      const best = embedded.toSorted((a, b) => cosine(b.vector) - cosine(a.vector));
      const hitsOf = (count: number) => ({
        chunks: best.slice(0, count).flatMap(({ row, vector: own }) => [renderChunk(row), own]),
        cosines: Float64Array.from(best.slice(0, count), ({ vector: own }) => cosine(own)),
        matches: embedded.length,
        areAll: count >= best.length,
        countsAll: false,
      });
      const asked = { mode: "semantic", query, vector, threshold: -1, groupSize: 3 } as const;
      const given = (count: number, limit: number) => {
        const { json, work } = retrieve(view, {
          ...asked,
          limit,
          given: { versions: all, hits: hitsOf(count) },
        });
        return { ...JSON.parse(new TextDecoder().decode(json)), work };
      };
      const keysOf = ({ data }: { data: { file: { path: string }; hits: Hit[] }[] }) =>
        data.map(({ file, hits }) => [file.path, ...hits.map(({ chunk }) => chunk?.id)]);
      const found = ask({ ...asked, limit: 10 });
      const enough = given(best.length, 10);
      expect(keysOf(enough)).toEqual(keysOf(found));
      expect(enough.work.lacksHits).toBe(false);
      const few = given(4, 10);
      expect(keysOf(few)).toEqual(keysOf(found).slice(0, few.data.length));
      expect(few.work.lacksHits).toBe(true);
    }
  });

  test("of a scope that has changed since its texts were read shows the chunks from before, unless it is filtered", () => {
    native.setScope(project, "changed", [withoutVectors]);
    native.setScope(project, "changed#filter", [withoutVectors]);
    const asked = { mode: "keyword", query: "harbour", limit: 100 } as const;
    const idsOf = ({ hits }: { hits: Hit[] }) => hits.map(({ chunk }) => chunk?.id);
    const before = ask(asked);
    expect(idsOf(ask({ ...asked, scope: { ...SCOPE, id: "changed" } }))).toEqual(idsOf(before));
    const filtered = idsOf(ask({ ...asked, scope: { ...SCOPE, id: "changed#filter" } }));
    const own = new Set<string | undefined>(others.map(({ id }) => id));
    expect(filtered).toEqual(idsOf(before).filter((id) => own.has(id)));
    expect(filtered).not.toBeEmpty();
  });

  test("of a scope that has changed shows the chunks of each version once, however often it was indexed", () => {
    const twice = freshProject();
    native.openProject(twice);
    native.setScope(twice, "scope", []);
    const file = files.find((each) => each.chunks.length === 3) as TestFile;
    const vector = topics[0] as Float32Array<ArrayBuffer>;
    const names = ["cut", "cut and embedded", "partly embedded", "embedded twice"];
    const versions = names.map((name, i) => {
      const id = idOf(2e9 + i);
      const own = { file_version_id: id, file_id: id, file_path: `${i}.md` };
      const rows = file.chunks.map((_, index) => ({
        ...{ ...rowOf(file, index), ...own, id: idOf(3e9 + i * 10 + index) },
        content: index === 1 ? "harbour" : "other",
      }));
      return { name, id, path: `${i}.md`, own, rows };
    });
    type Version = (typeof versions)[number];
    const add = (rows: ReadonlyArray<ChunkRow | EmptyVersionRow>, dimension: number) => {
      const vectors = rows.map(() => (dimension === 0 ? null : vector));
      native.append(twice, dimension, appendBatch(rows, vectors, dimension));
    };
    const [cut, embeddedLater, partly, again] = versions as [Version, Version, Version, Version];
    for (const { own } of [cut, embeddedLater]) add([{ id: null, ...own, embedding: null }], 0);
    add(cut.rows, 0);
    add(embeddedLater.rows, DIMENSION);
    for (const { rows } of [partly, again]) {
      add(rows.slice(1), 0);
      add(rows.slice(0, 1), DIMENSION);
    }
    add(again.rows, DIMENSION);
    const segment = buildSegment(
      versions.map(({ id, path }) => ({ id, path, ...parseMarkdown(path, "harbour other") })),
    );
    const { json } = retrieve(newView([{ key: "twice", buffer: segment }], [null]), {
      ...{ project: twice, mode: "hybrid", query: "harbour", vector, threshold: -1, groupSize: 9 },
    });
    native.dropProject(twice);
    const { data } = JSON.parse(new TextDecoder().decode(json)) as {
      data: { file: { path: string }; hits: Hit[] }[];
    };
    const shown = data.map(({ file: { path }, hits }) => {
      const group = hits.map(({ chunk, scores }) => [chunk?.id, scores.semantic !== null]);
      return [names[Number.parseInt(path, 10)], { best: hits[0]?.chunk?.id, group: group.sort() }];
    });
    const hitsOf = ({ name, rows }: Version, areEmbedded: Readonly<Record<number, boolean>>) => [
      name,
      {
        best: rows[1]?.id,
        group: Object.entries(areEmbedded).map(([index, is]) => [rows[Number(index)]?.id, is]),
      },
    ];
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries([
        // Of chunks without a vector, a group has only that with the word.
        hitsOf(cut, { 1: false }),
        hitsOf(embeddedLater, { 0: true, 1: true, 2: true }),
        hitsOf(partly, { 0: true, 1: false }),
        hitsOf(again, { 0: true, 1: true, 2: true }),
      ]),
    );
  });

  test("by keyword counts the files that match, and by vector the chunks that reach the threshold", () => {
    const keyword = ask({ mode: "keyword", query: "harbour" });
    const matching = files.filter(({ text }) => /\bharbour/i.test(text)).length;
    expect(keyword.total_matches).toBe(matching);
    const vector = topics[1] as Float32Array<ArrayBuffer>;
    const semantic = ask({ mode: "semantic", vector, threshold: 0.5, limit: 100 });
    expect(semantic.total_matches).toBe(semantic.hits.length);
  });

  test("shows each chunk under the heading that it begins with", () => {
    const { hits } = ask({ mode: "keyword", query: "anchor", limit: 30 });
    const contents = new Map(
      files.flatMap((file) => file.chunks.map((chunk) => [chunk.id, chunk])),
    );
    for (const { chunk, heading } of hits) {
      const own = contents.get(chunk?.id as string)?.content.split("\n")[0];
      expect(`## ${heading}`).toBe(own as string);
    }
  });
});

/** Pieces of Markdown, some of which mean nothing where they are. */
const PIECES = [
  ..."# ## ####### - > * 1. 12) ``` ~~~~ ~~~ === --- [ ] ( ) ![ ]( ) < > </b> <b> {#id} | ** ` \\ # \t".split(
    " ",
  ),
  ...[
    "\n",
    "\n",
    "\n\n",
    "    ",
    " ",
    "  ",
    "é",
    "🚀",
    "\ud800",
    "\u00a0",
    "word",
    "text",
    "a b",
    "<p class=x>",
    ...["%%", "==", " ^a", "{{ a", "{:"],
  ],
];
const markdown = () => Array.from({ length: 1 + random.below(30) }, () => pick(PIECES)).join("");

test("the best passage of a chunk is shown, whether its words or its vector found it", () => {
  let compared = 0;
  for (const { query, vector } of questions(8)) {
    const asked = { query, vector, threshold: 0, limit: 1_000 };
    const byVector: Hit[] = ask({ mode: "semantic", ...asked }).hits;
    const byWords: Hit[] = ask({ mode: "keyword", ...asked }).hits;
    const known = new Map(byVector.map(({ chunk, highlight }) => [chunk?.id, highlight]));
    for (const { chunk, highlight } of byWords) {
      const other = known.get(chunk?.id);
      if (other === undefined) continue;
      expect(highlight).toEqual(other);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(FILES);
});

test("a highlight shows the text of Markdown, and nothing that a reader does not see", () => {
  const shown: Record<string, string> = {
    "# A **bold** `Map<K, V>` heading {#id}": "A bold Map<K, V> heading",
    "2 * 3 * 4 and my\\_func": "2 * 3 * 4 and my_func",
    "Tom &amp; Jerry": "Tom & Jerry",
    'see [menu templates][] and [this][x], [that](/url "title") and ![image](a.png)':
      "see menu templates and this, that and image",
    "items[i][j] and [^1] note": "items[i][j] and note",
    "[x]: /url\n[^1]: the note": "the note",
    "> [!NOTE]\n> careful": "careful",
    ":::tip Title\nbody\n:::": "Title body",
    '{{< ref "a" >}}text{{% note %}} {% raw %}more': "text more",
    'import X from "y"\n\ntext': "text",
    "a<!-- hidden\nlines -->b {/* gone */}c<br>d": "a b c d",
    "[[Page|alias]] [[Other]]": "alias Other",
    "some ==marked words== and a == b, a===b": "some marked words and a == b, a===b",
    "before %%a\nsecret%% after, 100%% sure": "before after, 100%% sure",
    "A paragraph. ^37066d\n- item ^my-id\n10 ^10": "A paragraph. item 10 ^10",
    "text {: .note } and {.class}": "text and",
    "version {{ site.version }} of {{ .Title }} '{{ x }}'": "version of {{ .Title }} '{{ x }}'",
    "| a | b |\n|---|:-:|\n| 1 | 2 |": "a b 1 2",
    "```js\nimport X from 'y'\nconst a = <B />;\n```\n*end*":
      "import X from 'y' const a = <B />; end",
    "- [link](a)\n  1. item\n> > quoted": "link item quoted",
    "Title\n===\n_text_ snake_case": "Title text snake_case",
  };
  const read = Object.keys(shown).map((markdown) => [markdown, plainText(markdown)]);
  expect(Object.fromEntries(read)).toEqual(shown);
  for (let i = 0; i < 20_000; i++) expect(plainText(markdown())).not.toMatch(/^\s|\s$|\s\s/);
});

test("the heading of a chunk is the last of the headings in its metadata", () => {
  const [file] = files as [TestFile];
  const headingOf = (metadata: unknown) =>
    renderedHeading(
      renderChunk({ ...rowOf(file, 0), metadata: JSON.stringify(metadata, null, 1) }),
    );
  const nested = { a: [{ headings: ["no"] }], headings: ["A", 'the "last" \\ é🚀'], z: "headings" };
  expect(headingOf(nested)).toBe('the "last" \\ é🚀');
  for (const metadata of [
    {},
    { headings: [] },
    { headings: "A" },
    { headings: [1, null] },
    { a: {} },
  ]) {
    expect(headingOf(metadata)).toBeNull();
  }
});

test("native code reads the content of a chunk as it was rendered", () => {
  const [file] = files as [TestFile];
  for (let i = 0; i < 2_000; i++) {
    const content = `${markdown()}"\\\\"\u0001\b\f\r${markdown()}`;
    const path = pick(["a.md", 'a"b\\.md', "ü/🚀.md"]);
    const row = { ...rowOf(file, 0), content, file_path: path };
    expect(renderedContent(renderChunk(row))).toBe(content);
  }
  expect(renderedContent('{"id":1}')).toBeNull();
});

test("the best score of a page is that of its first hit or group", () => {
  for (const mode of MODES) {
    for (const groupSize of [0, 2]) {
      const asked = { mode, query: "harbour sail", vector: topics[0] as Float32Array, groupSize };
      const { data, work } = ask(asked);
      expect(work.best).toBe(data[0].score);
    }
  }
  expect(ask({ mode: "keyword", query: "nowhere" }).work.best).toBe(0);
});

describe("facets", () => {
  const TAGS = 40;
  /** Files by folder, and the first chunk of each in a part of the scope. */
  const fields = openFields();
  for (const { versionId, path, chunks: own } of files) {
    const frontmatter = { folder: path.split("/")[0], tags: [...Array(TAGS).keys()] };
    const metadata = own.map((_, i) => ({ part: i }));
    addFields(
      fields,
      versionId,
      path,
      JSON.stringify(frontmatter),
      JSON.stringify(metadata),
      own.length,
    );
  }
  shareFields(fields, project);
  const PART = { ...SCOPE, id: "scope#first" };
  const count = (values: readonly (string | undefined)[]) =>
    Object.fromEntries(
      [...Map.groupBy(values, (value) => value ?? "")].map(([value, all]) => [value, all.length]),
    );
  const counted = ({ values }: { values: { value: string; count: number }[] }) =>
    Object.fromEntries(values.map(({ value, count }) => [value, count]));
  const asked = (names: readonly string[], options: Partial<RetrieveRequest> = {}) =>
    ask({
      mode: "keyword",
      query: "harbour",
      fields: project,
      facets: names,
      limit: 1,
      ...options,
    });

  test("count every file that the pages go through", () => {
    const { hits } = ask({ mode: "keyword", query: "harbour", limit: 1_000 });
    const folders = new Map(
      files.flatMap(({ path, chunks: own }) =>
        own.map(({ id }) => [id, path.split("/")[0]] as const),
      ),
    );
    const expected = count(hits.map(({ chunk }: Hit) => folders.get(chunk?.id as string)));
    const { facets, data } = asked(["frontmatter.folder", "path"]);
    expect(data).toHaveLength(1);
    expect(Object.keys(facets)).toEqual(["frontmatter.folder", "path"]);
    expect(counted(facets["frontmatter.folder"])).toEqual(expected);
    expect(facets["path"]).toMatchObject({ total: hits.length, exact: true });
    expect(asked(["metadata.none"]).facets).toEqual({
      "metadata.none": { values: [], total: 0, exact: true },
    });
  });

  test("of a filtered scope count its chunks, and are not answered before these have the numbers of the versions", () => {
    const firsts = new Uint32Array((chunks + 31) >>> 5);
    let next = 0;
    for (const { chunks: own } of files) {
      firsts[next >>> 5] = (firsts[next >>> 5] as number) | (1 << (next & 31));
      next += own.length;
    }
    native.setScope(project, PART.id, [withVectors, withoutVectors]);
    shareFilteredScope(fields, project, PART.id, firsts);
    const parts = () => counted(asked(["metadata.part"], { scope: PART }).facets["metadata.part"]);
    expect(Object.keys(parts())).toEqual(["0"]);
    expect(Object.keys(counted(asked(["metadata.part"]).facets["metadata.part"])).length).toBe(4);
    shareFields(fields, project);
    expect(parts).toThrow("not-loaded");
    shareFilteredScope(openFields(), project, PART.id, firsts);
    expect(parts).toThrow("not-loaded");
    shareFilteredScope(fields, project, PART.id, null);
    expect(Object.keys(parts())).toHaveLength(4);
    unshareFilteredScope(project, PART.id);
    expect(parts).toThrow("not-loaded");
  });

  test("that take too long are given up", () => {
    const late = (facets: readonly string[]) => {
      openTextView(
        view.number,
        view.segments.map(({ buffer }) => new Uint8Array(buffer)),
        view.documentSets,
      );
      return retrieveNatively({
        view: view.number,
        project,
        scope: SCOPE.id,
        mode: 1,
        query: "harbour",
        wordBreaks,
        vector: null,
        limit: 1,
        threshold: 0,
        groupSize: 0,
        diversity: 0,
        excluded: { chunkIds: [], paths: [], chunks: 0 },
        progress: "",
        selfPath: "/",
        next: "",
        given: null,
        facets,
        fields: project,
        facetsMaxMs: 0,
      });
    };
    expect(late(["frontmatter.tags"])).toEqual({ isLate: true });
    expect(late(["path"])).toHaveProperty("json");
  });
});
