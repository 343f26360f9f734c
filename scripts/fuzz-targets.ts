/** A fuzz target of native/fuzz. */
export interface FuzzTarget {
  /** Of its source, without the suffix. */
  readonly name: string;
  /** What it needs of native/src, as patterns. */
  readonly sources: readonly string[];
  readonly flags?: readonly string[];
  /** The longest input in bytes; short ones are enough where each byte does much. */
  readonly maxBytes: number;
  /** Inputs to begin with, which random ones would hardly find. */
  seeds(): (string | Uint8Array)[];
}

const DIMENSION = 768;
/** The kernels for instruction sets are tested against the portable ones elsewhere. */
const PORTABLE = ["-DTESSERA_CPU_HAS_AVX2=0", "-DTESSERA_CPU_HAS_AVX512=0"];
const PORTABLE_SOURCES = ["kernels/kernels.cc", "kernels/kernels_portable.cc"];
/** The first byte of a body's input chooses how the rest is used. */
const [WHOLE, ELEMENT, MEMBERS, FILTER, SKIPPED] = ["\0", "\u0001", "\u0002", "\u0003", "\u0004"];

const numbers = ["0", "-0.0", "0.123456789012345678901", "1e-45", "3.4028236e38", "-1.5E+3"];

function bodySeeds(): string[] {
  const vector = Array.from({ length: DIMENSION }, (_, i) => (i % 9) / 8 - 0.4);
  const base64 = Buffer.from(Float32Array.from(vector).buffer).toString("base64");
  const rest = { dimension: DIMENSION, limit: 5, threshold: 0.5, other: { a: [null, "ü\\n"] } };
  return [
    WHOLE + JSON.stringify({ vector, ...rest }),
    WHOLE + JSON.stringify({ vector: base64, ...rest }),
    ...numbers.map((text) => ELEMENT + text),
    `${MEMBERS}"limit":7.5,"threshold":1e-3,"x":"\\ud83d\\ude80"`,
    `${MEMBERS}"7":1,"vec\\u0074or":"AAA=","limit":1e400,"vector":[null,[]]`,
    `${FILTER}"filter":{"path":"a"},"fil\\u0074er":null,"a":[[1],{"b":"]"}]`,
    `${SKIPPED}{"a":[1,2,{"b":null}],"c":"\\u0041 \u00e4"}`,
  ];
}

/** Words, names, numbers and signs of several scripts, and characters that consist of several. */
const WORDS = [
  "getStaticProps C++ C# .NET --dry-run @scope/name v1.2.3 up-to-date re-use a?.b",
  "U.S.A. AT&T +49 30 1234567 24,500 1.000.000 0x80070ABC Qur'an Xi\u2019an l\u00b7l",
  "Stra\u00dfe \u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3 \u6771\u4eac \uff76\uff9e \ud55c\u110b\u1165 \u0e17\u0e35\u0e48",
  '\u0915\u094d\u0937 \u05e6\u05d4"\u05dc \ud83d\udc69\u200d\ud83d\udcbb \ud83c\udde9\ud83c\uddea 1\ufe0f\u20e3 \ud800x\u0345',
];

/** A filter, then the path, frontmatter and metadata of versions, a line each. */
function fieldSeeds(): string[] {
  const many = Object.fromEntries(Array.from({ length: 260 }, (_, i) => [`k${i}`, i]));
  const version = ["a/b", { a: [1, "x", null, { b: 2 }], b: { c: "\ud83d" } }, [{ a: "z" }, {}]];
  const filters = [
    { path: { $glob: "**/a?*.md" }, "frontmatter.b.c": { $exists: true } },
    { $and: [{ "frontmatter.a": 1 }, { $not: { "metadata.b": { $in: [1, "x", true] } } }] },
    { $or: [{ "metadata.a": { $gte: "m", $lt: "z" } }, { path: { $prefix: "a" } }, {}] },
  ];
  const lines = [
    ...filters.map((filter) => [filter, ...version]),
    [{ "frontmatter.k259": { $gt: 5 } }, "b", many, []],
  ];
  return lines.map((each) =>
    each.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
}

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  {
    name: "body",
    sources: [
      "json/body.cc",
      "json/base64.cc",
      "json/json_skip.cc",
      "json/number.cc",
      "common/chunk_text.cc",
      "common/utf8.cc",
      ...PORTABLE_SOURCES,
    ],
    flags: PORTABLE,
    maxBytes: 16_384,
    seeds: bodySeeds,
  },
  { name: "number", sources: ["json/number.cc"], maxBytes: 256, seeds: () => [...numbers] },
  {
    name: "base64",
    sources: ["json/base64.cc"],
    maxBytes: 4_096,
    seeds: () => ["\0AAAA", "\0AAA=", "\0AA==", "\u0001/+9z"],
  },
  {
    name: "bitmap",
    sources: ["project/bitmap.cc", "common/keyed_hash.cc"],
    maxBytes: 128,
    seeds: () => [Uint8Array.of(0, 1, 2, 3, 5, 9, 9), Uint8Array.of(15, 0, 255, 255, 15, 255)],
  },
  {
    name: "words",
    // Without the languages of documents, which need the stemmers.
    sources: [
      "text/analysis/{folding,function_words,identifiers,joined,surface_form}.cc",
      "text/analysis/{symbol_names,tokenizer,unicode}.cc",
      "common/keyed_hash.cc",
      "text/query/{analyse_query,spellings,unspaced_words}.cc",
    ],
    maxBytes: 1_024,
    seeds: () => WORDS.map((text) => Buffer.from(text, "utf16le")),
  },
  {
    name: "fields",
    sources: [
      "fields/*.cc",
      "json/write.cc",
      "common/keyed_hash.cc",
      "common/utf8.cc",
      "common/version_key.cc",
    ],
    maxBytes: 4_096,
    seeds: fieldSeeds,
  },
  {
    name: "merge",
    sources: [
      ...["merge", "document_sections", "postings", "frequency_code", "sorted_terms"].map(
        (name) => `text/segment/${name}.cc`,
      ),
      "text/segment/stem_table.cc",
      "text/segment/text_segment.cc",
      "common/keyed_hash.cc",
      "common/utf8.cc",
    ],
    maxBytes: 65,
    seeds: () => [Uint8Array.of(21), Uint8Array.of(31, 0, 40, 255, 0, 7, 90, 1, 1)],
  },
  {
    name: "snapshot",
    sources: [
      "snapshot/*.cc",
      "storage/*.cc",
      "common/*.cc",
      "project/*.cc",
      "index/*.cc",
      "codes/*.cc",
      "graph/*.cc",
      "search/*.cc",
      "json/write.cc",
      ...PORTABLE_SOURCES,
    ],
    flags: [
      ...["-isystem", "node_modules/usearch/include"],
      ...["-isystem", "node_modules/zstd-napi/deps/zstd/lib"],
      ...PORTABLE,
    ],
    maxBytes: 129,
    seeds: () => [Uint8Array.of(0), Uint8Array.of(1, 0, 0, 0, 40, 0, 5, 0, 0)],
  },
];
