import { parseColumnMap } from "../../src/content/import/tables/column-map.ts";
import { storedText } from "../../src/documents/conversion/formats.ts";
import { ImportError, RecordError } from "../../src/documents/errors.ts";
import { checkFilter, isObject } from "../../src/domain/filter/check.ts";
import { parseJson } from "../../src/domain/json/parse.ts";
import { Problem } from "../../src/domain/problem/problem.ts";
import { CursorSigner } from "../../src/http/cursor.ts";
import { randomNumbers } from "../../support/random.ts";
import { evaluated } from "../unit/domain/filter/filters.ts";
import { FOREIGN } from "./foreign-parsers.ts";
import { FENCED, HTML, MARKDOWN, TOML, YAML } from "./parser-inputs.ts";
import { must, type Parser, readMarkdown, refusing, textOf } from "./reading.ts";
import { SEARCH_BODIES } from "./search-bodies.ts";

/** Inputs grow to this size, in bytes. */
const INPUT_MAX_BYTES = 20_000;
/** Inputs that did not fail and are changed further. */
const KEPT_MAX = 200;

function readFilter(text: string): void {
  let filter: unknown;
  try {
    filter = parseJson(text);
  } catch (error) {
    must(error instanceof SyntaxError, `JSON fails with ${error}`);
    return;
  }
  const faults = checkFilter(filter);
  for (const { field, message } of faults) {
    must(field.startsWith("filter") && message !== "", "a fault has no place");
  }
  if (faults.length > 0) return;
  must(isObject(filter), "a filter without faults is no object");
  const { result, steps } = evaluated(filter, {
    path: "docs/a/b.md",
    frontmatter: { a: [1, "x", true], b: { c: "2026-01-01" } },
    metadata: { a: Number.MAX_VALUE, "": null, headings: ["x".repeat(1_000)] },
  });
  must(steps < 1_000, "a filter takes too many steps");
  must(typeof result === "boolean", "a filter neither matches nor not");
}

const signer = new CursorSigner(new Uint8Array(32).fill(7));
const CURSORS = [["a", 1], { after: "x" }, null].map((position) => signer.seal("b", position));

async function readCursor(text: string): Promise<void> {
  await refusing([Problem], () => {
    signer.open("b", text);
    must(CURSORS.includes(text), "a cursor was forged");
  });
  await refusing([Problem], () => {
    signer.open("other", text);
    must(false, "a cursor opens with another binding");
  });
}

/** The parsers that read what callers or files give, by name. */
export const PARSERS: Readonly<Record<string, Parser>> = {
  frontmatter: {
    seeds: FENCED,
    words: [...YAML, ...TOML],
    read: (input) => readMarkdown(textOf(input)),
  },
  toml: {
    seeds: FENCED.slice(1),
    words: TOML,
    read: (input) => readMarkdown(`+++\n${textOf(input)}\n+++\nbody`),
  },
  markdown: { seeds: FENCED, words: MARKDOWN, read: (input) => readMarkdown(textOf(input)) },
  filters: {
    seeds: [
      '{"path":{"$glob":"**/a?*.md"}}',
      '{"$and":[{"frontmatter.a":1},{"$not":{"metadata.b":{"$in":[1,"x"]}}}]}',
    ],
    words: [
      "$and",
      "$or",
      "$not",
      "$eq",
      "$in",
      "$glob",
      "$prefix",
      "$exists",
      "path",
      "frontmatter.a",
      "metadata.",
      "**/",
      "?",
      "[",
      "]",
      "{",
      "}",
      ":",
      ",",
      '"',
      "1e400",
      "-0",
      "null",
      "true",
      "__proto__",
    ],
    read: (input) => readFilter(textOf(input)),
  },
  cursors: {
    seeds: CURSORS,
    words: ["=", "-", "_", "A", "+", "/"],
    read: (input) => readCursor(textOf(input)),
  },
  columns: {
    seeds: ["path=a,content=b,metadata.x=c", "id=a,embedding=v"],
    words: ["=", ",", ".", "metadata.", "path", "\\", " "],
    read: (input) => refusing([ImportError, RecordError], () => parseColumnMap(textOf(input))),
  },
  html: {
    seeds: [
      "<h1>A</h1><p>b <b>c</b></p><table><tr><td>1</td></tr></table><pre><code>x</code></pre>",
    ],
    words: HTML,
    read: (input) =>
      refusing([RecordError], async () => readMarkdown((await storedText("a.html", input)).text)),
  },
  "search-bodies": SEARCH_BODIES,
  ...FOREIGN,
};

const bytesOf = (input: string | Uint8Array) =>
  typeof input === "string" ? Buffer.from(input) : Buffer.from(input);

/** Another input: some parts of one are changed, removed, repeated or taken from another. */
function mutated(
  kept: readonly Uint8Array[],
  words: readonly string[],
  random: () => number,
): Uint8Array {
  const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  let input = Buffer.from(pick(kept));
  for (let change = Math.floor(random() * 6); change >= 0; change--) {
    const at = Math.floor(random() * (input.length + 1));
    const end = Math.min(input.length, at + Math.floor(random() ** 3 * 200));
    const [head, middle, tail] = [
      input.subarray(0, at),
      input.subarray(at, end),
      input.subarray(end),
    ];
    const other = pick(kept);
    const parts = [
      () => [head, Buffer.from(pick(words)), input.subarray(at)],
      () => [
        head,
        Buffer.from(pick(words).repeat(Math.ceil(random() ** 4 * 500))),
        input.subarray(at),
      ],
      () => [head, tail],
      () => [head, ...Array<Buffer>(Math.ceil(random() * 20)).fill(middle), tail],
      () => [head, other.subarray(Math.floor(random() * other.length)), tail],
      () => [head, Buffer.from([Math.floor(random() * 256)]), input.subarray(at + 1)],
    ];
    input = Buffer.concat(pick(parts)()).subarray(0, INPUT_MAX_BYTES);
  }
  return input;
}

/** Feeds a parser. Throws for the first input that it does not survive, with the input in base64. */
export async function fuzzParser(name: string, seed: number, inputs: number): Promise<void> {
  const parser = PARSERS[name] as Parser;
  const random = randomNumbers(seed);
  const kept: Uint8Array[] = parser.seeds.map(bytesOf);
  for (let number = 0; number < inputs; number++) {
    const input =
      number < parser.seeds.length
        ? (kept[number] as Uint8Array)
        : mutated(kept, parser.words, random);
    try {
      await parser.read(input);
    } catch (cause) {
      const base64 = Buffer.from(input).toString("base64");
      throw new Error(
        `${name}, seed ${seed}: ${(cause as Error).message}, with the input ${base64}`,
        { cause },
      );
    }
    if (kept.length < KEPT_MAX) kept.push(input);
    else if (random() < 0.1) kept[Math.floor(random() * KEPT_MAX)] = input;
  }
}
