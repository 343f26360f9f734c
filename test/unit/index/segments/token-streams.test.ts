import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { languageNamed, surfaceForm, unitKind } from "../../../../native/testing.ts";
import { stemLanguages } from "../../../../native/text.ts";
import { spellingSpans, tokenSpans } from "../../../../native/words.ts";
import { RUNTIME_VERSION, TABLES_FILE, unicodeTables } from "../../../../scripts/unicode-tables.ts";
import { WORD_MAX_CHARS } from "../../../../src/domain/limits.ts";

// Segments store streams of tokens, so the hashes of the streams are fixed here. An intended change of the streams needs
// a higher `SNAPSHOT_FORMAT` in src/index/snapshots/manifest.ts.

/** A hash of all that is read of some texts. */
function hashOf(texts: Iterable<string>): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const text of texts) {
    const spans = [...tokenSpans(text), ...spellingSpans(text)];
    hash.update(spans.map(({ start, end, token }) => `${start} ${end} ${token}\n`).join(""));
  }
  return hash.digest("hex").slice(0, 16);
}

const HANDBOOK = join(import.meta.dir, "../../../../fixtures/docs");
const BATCH = 1_024;
/** The last code point, and the last one of the planes with letters. */
const [LAST, LAST_LETTER] = [0x10ffff, 0x3ffff];

/** Texts of successive code points, each after some text and before another. */
function* everyCodePoint(before: string, after: string): Generator<string> {
  for (let first = 0; first <= (before === "" ? LAST : LAST_LETTER); first += BATCH) {
    let text = "";
    for (let i = 0; i < BATCH; i++) text += `${before}${String.fromCodePoint(first + i)}${after}\n`;
    yield text;
  }
}

test.each([
  ["alone", "", "", "e3ceee25ea791e6e"],
  ["within a word", "a", "b", "10a9644cee9c68f0"],
  ["behind a name with symbols", "C#", "", "cf1430e26819605b"],
  ["between a version and a name", "v1.2", ".net", "bac5006a52890f3e"],
  ["between consonants that join", "क\u094d", "क", "9fd9cd762f3e8236"],
  ["behind a pictograph that joins", "❤\u200d", "\u200d❤", "15db8bf93e2d4f2a"],
  ["behind a syllable and before a vowel", "가", "\u1161", "1d05c1c278586080"],
])("the tokens of every code point %s are the known ones", (_, before, after, known) => {
  expect(hashOf(everyCodePoint(before, after))).toBe(known);
});

test("the kind of every code unit is the known one", () => {
  const kinds = Uint8Array.from({ length: 0x10000 }, (_, unit) => unitKind(unit));
  const hash = new Bun.CryptoHasher("sha256").update(kinds).digest("hex");
  expect(hash.slice(0, 16)).toBe("8b99d6019bb92184");
});

/** The first code points of kinds of characters, and how many of each follow. */
const RANGES =
  `20+60 a0+1b0 2b0+50 300+70 370+90 400+100 591+64 621+60 900+80 985+60 d00+80 e01+50 1000+a0 1100+100
  1780+60 1e00+200 2000+a0 20d0+20 2100+90 2460+a0 2600+100 3041+c0 3130+60 3200+200 4e00+200 ac00+100 d800+800 f900+100
  fb00+50 fe00+10 ff01+a0 1d400+100 1f1e6+1a 1f3fb+5 1f468+8 200b+3 3099+2 345+1 3a3+1 e0100+4`
    .split(/\s+/)
    .map((range) => range.split("+").map((hex) => Number.parseInt(hex, 16)) as [number, number]);

/** A linear congruential generator: the same numbers on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function* randomTexts(texts: number, words: readonly string[]): Generator<string> {
  const random = randomNumbers(42);
  for (let i = 0; i < texts; i++) {
    let text = "";
    for (let n = 2 + random(words.length > 0 ? 12 : 4); n > 0; n--) {
      const [first, count] = RANGES[random(RANGES.length)] as [number, number];
      text += words[random(words.length)] ?? String.fromCodePoint(first + random(count));
    }
    yield text;
  }
}

const PARTS = [
  ...[..."aAbTu.,'’-_&+·()/@#?=>!\"אéßΐ中٣²ſ\u0301\u0345\u00a0\u2009\u202f\u212a", " ", " "],
  ..."AT qu Qu an at is in o or re up by down under 0 1 12 123 1234 0x 0X 80070ABC l·l".split(" "),
];

test("the tokens of random neighbours are the known ones", () => {
  expect(hashOf(randomTexts(100_000, []))).toBe("9e05bc2810344447");
  expect(hashOf(randomTexts(100_000, PARTS))).toBe("ed921bc7115320a3");
});

test("the tokens of the handbook in several languages are the known ones", () => {
  const files = [...new Glob("**/*.md").scanSync({ cwd: HANDBOOK })].sort();
  expect(files.length).toBeGreaterThan(20);
  expect(hashOf(files.map((file) => readFileSync(join(HANDBOOK, file), "utf8")))).toBe(
    "e814837226314148",
  );
});

test("surface forms are in lower case and composed, as this runtime does it", () => {
  // The last one has a mark between a letter and another mark that would compose with it.
  const others = ["ΑΣ", "ΑΣ'Α", "ΑΣ\u0301.", "İX", "ΌΣΟΣ Σ", "a\u0313\u0301"];
  for (const text of [...randomTexts(20_000, []), ...others]) {
    const visible = text.replace(/[\p{DI}\p{Cf}]/gu, "");
    expect([text, surfaceForm(text)]).toEqual([text, visible.toLowerCase().normalize("NFC")]);
  }
});

test("a word that is longer than a token has no surface form", () => {
  expect(surfaceForm("É".repeat(WORD_MAX_CHARS))).toBe("é".repeat(WORD_MAX_CHARS));
  expect(surfaceForm("É".repeat(WORD_MAX_CHARS + 1))).toBe("");
});

test("a language is stated by a tag, a code of three letters or an English name", () => {
  const values = `de=de pt-BR=pt DEU=de ger=en German=de nb=no nno=no zh_TW=en deutsch=en sr-Latn-RS=sr
    de-DE-u-co-phonebk=de German-x-y=en x-klingon= de-toolongforit= d= 12-de= latn-de= französisch= root= de-= not,a,tag=`;
  for (const stated of values.split(/\s+/)) {
    const [value = "", code = ""] = stated.split("=");
    const number = languageNamed(` ${value} `);
    expect([value, number === null ? "" : stemLanguages[number]]).toEqual([value, code]);
  }
});

test("the tables of characters are those of this runtime, if they state its version", () => {
  const stored = readFileSync(TABLES_FILE, "utf8");
  const isOfThis = stored.includes(`from ${RUNTIME_VERSION},`);
  // Another runtime keeps the words that were indexed until somebody makes tables with it.
  expect(isOfThis ? unicodeTables() === stored : stored.includes("TABLES_VERSION")).toBe(true);
});
