/**
 * Writes `native/src/text/analysis/unicode_tables.inc`: all that native code knows of characters, from the properties
 * that this runtime has. Run it with another runtime to index words by another version of Unicode:
 * `bun scripts/unicode-tables.ts`. The version and a hash of the tables are a part of every snapshot of texts.
 */
import { join } from "node:path";
import { to } from "opencc-js/preset/t2cn";
import { graphemeClassOf } from "./grapheme-classes.ts";

export const TABLES_FILE = join(import.meta.dir, "../native/src/text/analysis/unicode_tables.inc");

/** The versions of the runtime that the tables depend on. */
export const RUNTIME_VERSION = `Unicode ${process.versions.unicode}, ICU ${process.versions.icu}`;

const LAST = 0x10ffff;
const HANGUL = { first: 0xac00, last: 0xd7a3 };

/** Scripts that are written without spaces between words, or with words that run together. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}ー々]/u;

/** Letters that are written for an apostrophe, or the other way round: ʼ, ʻ, ʾ, ʿ, ꞌ. */
const APOSTROPHE = /[\u02b9-\u02bf\ua78b\ua78c]/;

/**
 * Symbols and numbers that stand for themselves, such as © or ①, although their compatibility forms are letters
 * and digits. Superscripts and subscripts are digits (H₂O), and squared words (㎞) are words.
 */
const SYMBOL = /(?![²³¹\u2070-\u209f\u3300-\u33ff])[\p{S}[\p{No}&&\p{sc=Zyyy}]]/v;

/**
 * Characters that comparisons ignore: invisible characters; the marks that alphabets do without, but neither the vowels
 * of other scripts nor the voicing marks of kana; the nukta of Devanagari, which many texts omit; tatweel; geresh and
 * gershayim, and `"`, which is written for them between Hebrew letters.
 */
const REMOVED =
  /[\p{DI}\p{Cf}[[\p{M}&&[\p{sc=Zinh}\p{sc=Arab}\p{sc=Hebr}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Syrc}]]--[\u3099\u309a]]\u093c\u0640\u05f3\u05f4"]/gv;

/** Replacements of letters that Unicode does not decompose. */
const LETTERS: Record<string, string> = {
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  // Arabic: alef wasla, alef maksura and Farsi yeh, keheh and swash kaf, teh marbuta and forms of heh.
  ٱ: "ا",
  ى: "ي",
  ی: "ي",
  ک: "ك",
  ڪ: "ك",
  ة: "ه",
  ہ: "ه",
  ھ: "ه",
  ە: "ه",
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

/** The simplified forms of traditional characters, by OpenCC: the most frequent one if there are several. */
const simplified = new Map(
  (to.cn ?? [])
    .flat()
    .flatMap((pairs) => (typeof pairs === "string" ? pairs.split("|") : []))
    .map((pair) => pair.split(" ") as [traditional: string, simplified: string])
    .filter(([traditional]) => /^\p{sc=Han}$/u.test(traditional)),
);

/** Letters of katakana with a counterpart in hiragana, and the distance of their code points. */
const KATAKANA = /[\u30a1-\u30f6\u30fd\u30fe]/g;
const KANA_DISTANCE = 0x60;

const DIGIT = /\p{Nd}/u;
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;
const DIGITS = 10;

/** The ASCII digit for a digit of any script. The digits of a script are consecutive, from 0. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % DIGITS);
}

/** Folds case, marks and national digits, and katakana to hiragana. */
function folded(character: string): string {
  return character
    .toUpperCase()
    .toLowerCase()
    .replace(LETTER, (letter) => LETTERS[letter] as string)
    .replace(OTHER_DIGITS, asciiDigit)
    .replace(KATAKANA, (kana) => String.fromCharCode(kana.charCodeAt(0) - KANA_DISTANCE))
    .replace(REMOVED, "")
    .normalize("NFD");
}

/** The texts that characters become in a transformation, each behind its character. */
type Mapping = Map<string, string>;

interface Mappings {
  /** Characters that the normal form composes of two others. */
  readonly COMPOSED: Mapping;
  /** Canonical decompositions that are not composed again, and compatibility decompositions. */
  readonly DECOMPOSED: Mapping;
  readonly COMPATIBLE: Mapping;
  readonly LOWER: Mapping;
  readonly FOLDED: Mapping;
  readonly SIMPLIFIED: Mapping;
}

/** Characters without any property that the tables have. */
const UNKNOWN = /[\p{Co}[\p{Cn}--\p{DI}--\p{ExtPict}]]/v;

const isHangul = (code: number) => code >= HANGUL.first && code <= HANGUL.last;

function addDecomposition(character: string, mappings: Mappings): void {
  const canonical = character.normalize("NFD");
  if (canonical !== character) {
    const parts = [...canonical];
    const [first, last] = [parts.slice(0, -1).join("").normalize("NFC"), parts.at(-1) as string];
    const isComposed = parts.length > 1 && character.normalize("NFC") === character;
    if (isComposed && [...first].length !== 1) throw new Error(`unknown parts of ${character}`);
    if (isComposed) mappings.COMPOSED.set(character, first + last);
    else mappings.DECOMPOSED.set(character, canonical);
  }
  const compatible = character.normalize("NFKD");
  if (compatible !== canonical) mappings.COMPATIBLE.set(character, compatible);
}

function mappingsOf(): Mappings {
  const mappings: Mappings = {
    COMPOSED: new Map(),
    DECOMPOSED: new Map(),
    COMPATIBLE: new Map(),
    LOWER: new Map(),
    FOLDED: new Map(),
    SIMPLIFIED: new Map(),
  };
  for (let code = 0; code <= LAST; code++) {
    const character = String.fromCodePoint(code);
    if (isHangul(code) || UNKNOWN.test(character) || !character.isWellFormed()) continue;
    addDecomposition(character, mappings);
    const lower = character.toLowerCase();
    if (lower !== character) mappings.LOWER.set(character, lower);
    // Folding comes after decomposition and removal.
    const isKept = character.normalize("NFKD") === character && character.search(REMOVED) < 0;
    if (isKept && folded(character) !== character)
      mappings.FOLDED.set(character, folded(character));
    const other = simplified.get(character) ?? character;
    if (other !== character) mappings.SIMPLIFIED.set(character, other);
  }
  return mappings;
}

/** U+0345, the mark of the highest order but one. */
const YPOGEGRAMMENI = "\u0345";

/** The order of marks in the normal form: equal numbers for marks that keep theirs; only marks that move have one. */
function markOrders(): Map<string, number> {
  const comesBefore = (a: string, b: string) => (b + a).normalize("NFD") === a + b && a !== b;
  const classes: string[][] = [[YPOGEGRAMMENI]];
  for (let code = 0; code <= LAST; code++) {
    const mark = String.fromCodePoint(code);
    if (!/\p{M}/u.test(mark) || mark.normalize("NFD") !== mark) continue;
    if (!comesBefore(mark, YPOGEGRAMMENI)) continue;
    const at = classes.findIndex(([first = ""]) => !comesBefore(first, mark));
    const isNew = comesBefore(mark, classes[at]?.[0] as string);
    if (isNew) classes.splice(at, 0, [mark]);
    else classes[at]?.push(mark);
  }
  return new Map(classes.flatMap((marks, i) => marks.map((mark) => [mark, i + 1] as const)));
}

/** The numbers of the scripts that tell languages or stemmers apart; those without a number of their own are 4. */
const SCRIPTS = [/\p{sc=Grek}/u, /\p{sc=Armn}/u, /\p{sc=Taml}/u];
const STEMMED = /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Hebr}\p{sc=Arab}\p{sc=Deva}]/u;

function scriptOf(character: string): number {
  const own = SCRIPTS.findIndex((script) => script.test(character));
  if (own >= 0) return own + 1;
  return STEMMED.test(character) ? SCRIPTS.length + 1 : 0;
}

const CATEGORIES = [/\p{L}/u, /\p{N}/u, /\p{M}/u];

/** The properties of a character; `CharacterProperties` in unicode.hpp reads them. */
function propertiesOf(character: string, mappings: Mappings, orders: ReadonlyMap<string, number>) {
  if (UNKNOWN.test(character)) return "0, 0, 0, 0, 0, 0";
  const flags = [
    /\p{Lu}/u.test(character),
    character.search(REMOVED) >= 0,
    /[\p{DI}\p{Cf}]/u.test(character),
    /\p{Cased}/u.test(character),
    /\p{Case_Ignorable}/u.test(character),
    UNSPACED.test(character),
    APOSTROPHE.test(character) || SYMBOL.test(character),
    /\p{Me}/u.test(character),
    /\p{P}/u.test(character),
    mappings.COMPOSED.has(character) || mappings.DECOMPOSED.has(character),
    mappings.COMPATIBLE.has(character),
    mappings.LOWER.has(character),
    mappings.FOLDED.has(character),
    mappings.SIMPLIFIED.has(character),
    /\p{sc=Hang}/u.test(character) && character.normalize("NFD") === character,
  ];
  const bits = flags.reduce((all, flag, i) => all | (flag ? 1 << i : 0), 0);
  const category = CATEGORIES.findIndex((own) => own.test(character)) + 1;
  const { breaks, conjunct } = graphemeClassOf(character);
  const numbers = [category, scriptOf(character), breaks, conjunct, orders.get(character) ?? 0];
  return [bits, ...numbers].join(", ");
}

const LINE_CHARS = 118;

/** Items in lines of about the same length. */
function lines(items: readonly string[], separator: string): string {
  const all: string[][] = [];
  let chars = LINE_CHARS;
  for (const item of items) {
    if (chars + item.length > LINE_CHARS) {
      all.push([]);
      chars = 0;
    }
    all.at(-1)?.push(item);
    chars += item.length + separator.length;
  }
  return all.map((line) => line.join(separator)).join(`${separator.trim()}\n`);
}

/** The first code point of each range of equal properties, and the position of these. */
function rangesOf(mappings: Mappings): { properties: string[]; ranges: string[] } {
  const orders = markOrders();
  const numbers = new Map<string, number>();
  const ranges: string[] = [];
  let before = "";
  for (let code = 0; code <= LAST; code++) {
    const own = propertiesOf(String.fromCodePoint(code), mappings, orders);
    if (own === before) continue;
    before = own;
    if (!numbers.has(own)) numbers.set(own, numbers.size);
    ranges.push(`{${code}, ${numbers.get(own)}}`);
  }
  return { properties: [...numbers.keys()].map((own) => `{${own}}`), ranges };
}

const names = new Intl.DisplayNames("en", { type: "language" });
/** The two written forms of Norwegian. */
const SAME: Readonly<Record<string, string>> = { nb: "no", nn: "no" };
const LETTERS_OF_CODES = [..."abcdefghijklmnopqrstuvwxyz"];

/** The codes and English names of languages with a stemmer, each before the code that stemmers have. */
function languageNames(): string[] {
  const codes =
    "en ar hy eu ca da nl fi fr de el hi hu id ga it lt ne no pt ro ru sr es sv ta tr yi".split(
      " ",
    );
  const named = codes.map((code) => `${names.of(code)?.toLowerCase()} ${code}`);
  const two = LETTERS_OF_CODES.flatMap((a) => LETTERS_OF_CODES.map((b) => a + b));
  const all = [...two, ...two.flatMap((start) => LETTERS_OF_CODES.map((last) => start + last))];
  const others = all.flatMap((tag) => {
    const { language } = new Intl.Locale(tag);
    const code = SAME[language] ?? language;
    return codes.includes(code) && code !== tag ? [`${tag} ${code}`] : [];
  });
  return [...named, ...others];
}

const array = (type: string, items: readonly string[]) =>
  `inline constexpr ${type}[] = {\n${lines(items, ", ")}\n};\n`;
/** Tabs and line feeds separate entries. */
const text = (name: string, prefix: string, entries: readonly string[]) =>
  `inline constexpr ${name} = ${prefix}R"table(\n${lines(entries, "\t")}\n)table";\n`;

/** The source of the tables. */
export function unicodeTables(): string {
  const mappings = mappingsOf();
  const { properties, ranges } = rangesOf(mappings);
  const body = [
    array("CharacterProperties PROPERTIES", properties),
    array("CharacterRange RANGES", ranges),
    ...Object.entries(mappings).map(([name, mapping]: [string, Mapping]) =>
      text(
        `std::u32string_view ${name}`,
        "U",
        [...mapping].map(([from, into]) => from + into),
      ),
    ),
    text("std::string_view LANGUAGE_NAMES", "", languageNames()),
  ].join("\n");
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 8);
  return [
    `// Made by scripts/unicode-tables.ts from ${RUNTIME_VERSION}, and OpenCC (Apache License 2.0).`,
    `inline constexpr std::string_view TABLES_VERSION = "${process.versions.unicode} ${hash}";\n`,
    body,
  ].join("\n");
}

if (import.meta.main) await Bun.write(TABLES_FILE, unicodeTables());
