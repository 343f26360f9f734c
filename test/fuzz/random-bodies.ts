/** Random bodies of searches of all kinds, most of which are searches or nearly so. */
const DIMENSIONS = [768, 1024, 1536, 3072, 4096];
const OTHER_LENGTHS = [0, 1, 2, 767, 769, 1535, 4095, 4097, 8193, 10_923];

/** Numbers as clients write them, and as JSON allows them. */
const NUMBERS = [
  ...["0", "-0", "0.0", "1", "-1", "0.5", "1e0", "1E+2", "-2.5e-3", "0.1", "123456789", "1e400"],
  ...["-1e400", "1e39", "-3.4028236e38", "3.4028235677973366e38", "1e-46", "1e-400", "-1e-320"],
  ...["0.12345678901234567890123", "9007199254740993", "1e-45", "7.006492321624085e-46"],
  ...["0e99999999999999999999", "1e99999999999999999999", "1e-99999999999999999999"],
  ...[`1${"0".repeat(400)}`, `0.${"0".repeat(400)}1e401`, `${"9".repeat(30)}.5e-30`, "1e308"],
];
const OPTIONS = ["768", "7.68e2", "768.0", "1024", "769", "768.5", "5", "0.99", "100", "100.5"];
const VALUES = [
  ...["null", "true", "false", '""', '"a"', '"\\u00e9"', '"\\ud800"', "{}", "[]", "[[]]"],
  ...['"\\/\\"\\\\\\b\\f\\n\\r\\t"', '"\u2028\u{1f680}"', '{"a":[1,{}]}', '["]","["]'],
  '{"filter":{"path":"a"}}',
];
/** Values that JSON does not have. */
const BROKEN = [
  ...["tru", "nul", "nulll", '"\\x"', '"\t"', "[1,]", "{,}", '{"a"}', '{"a":}', "[1 2]", "[", "}"],
  ...["01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "--1", '"\\u00g0"', '"'],
];
const NAMES = [
  ...["top_k", "where", "x", "", "a b", "0", "10", "9", "01", "4294967294", "4294967295", "-1"],
  ...["__proto__", "constructor", "na\u00efve", "\\ud800", "\ud83d\ude80", "\\ud83d\\ude80", "a,b"],
  ...["n".repeat(63), "n".repeat(65), `${"n".repeat(63)}\u{1f680}`, "Vector", "filters", "1e3"],
];
const FILTERS = [
  ...['{"path":"a"}', '{"path":{"$prefix":"b/"}}', "{}", "null", '{"$and":[{"path":"a"}]}'],
  ...['{"metadata.a":1.10}', '{"metadata.a":1e400}', '{"path":"a","path":"b"}', '{"x":1}'],
  ...['{"p\\u0061th":"c"}', '{"metadata.a":"\\ud800"}', '{"__proto__":1}', '{"path":5}'],
];
const SPACES = ["", "", "", "", " ", "\n", "\r\n\t ", "\u00a0", "\v"];
/** Insertions of mutations. */
const PIECES = [
  ...[
    "-",
    ".",
    "e",
    "0",
    ",",
    "[",
    "]",
    "{",
    "}",
    '"',
    "null",
    "\\",
    " ",
    "\ufeff",
    "\\u0000",
    ":",
  ],
  ...['"vector":', '"limit":5,', '"filter":{},', '"dimension":768,', "\0", "\u00e9"],
];
const BYTES = [
  [0xff],
  [0xc3, 0x28],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f],
  [0xc0, 0x80],
  [0xef, 0xbb, 0xbf],
];

/** Makes one body after the other from random numbers in [0, 1). */
export class RandomBodies {
  constructor(private readonly random: () => number) {}

  next(): Uint8Array<ArrayBuffer> {
    let bytes = Buffer.from(this.#text());
    if (this.#chance(0.25)) {
      for (let i = this.#below(3); i >= 0; i--) bytes = this.#mutated(bytes);
    }
    return new Uint8Array(bytes);
  }

  #below(count: number): number {
    return Math.floor(this.random() * count);
  }

  #chance(share: number): boolean {
    return this.random() < share;
  }

  #pick<T>(of: readonly T[]): T {
    return of[this.#below(of.length)] as T;
  }

  #space(): string {
    return this.#chance(0.02) ? this.#pick(SPACES) : "";
  }

  #text(): string {
    if (this.#chance(0.02)) return `${this.#space()}${this.#value()}${this.#space()}`;
    const length = this.#pick(this.#chance(0.9) ? DIMENSIONS.slice(0, 2) : OTHER_LENGTHS);
    const dimension = this.#chance(0.93) ? String(length) : this.#pick([...OPTIONS, ...NUMBERS]);
    const members: [string, string][] = [
      ["vector", this.#vector(length)],
      ["dimension", dimension],
    ];
    for (let i = this.#below(5); i > 0; i--) members.push(this.#member(length));
    if (this.#chance(0.02)) for (let i = 0; i < 14; i++) members.push([`f${i}`, "0"]);
    if (this.#chance(0.03)) members.splice(this.#below(2), 1);
    const sorted = this.#chance(0.3) ? members.toSorted(() => this.random() - 0.5) : members;
    const texts = sorted.map(([name, value]) => {
      const [a, b, c, d] = [this.#space(), this.#space(), this.#space(), this.#space()];
      return `${a}"${this.#name(name)}"${b}:${c}${value}${d}`;
    });
    return `${this.#space()}{${texts.join(",")}}${this.#chance(0.01) ? this.#scalar() : this.#space()}`;
  }

  /** A name, sometimes with an escape. */
  #name(name: string): string {
    if (name === "" || name.includes("\\") || !this.#chance(0.04)) return name;
    const at = this.#below(name.length);
    const code = name.charCodeAt(at).toString(16).padStart(4, "0");
    return `${name.slice(0, at)}\\u${this.#chance(0.5) ? code.toUpperCase() : code}${name.slice(at + 1)}`;
  }

  #member(length: number): [string, string] {
    const kind = this.random();
    if (kind < 0.2) return ["limit", this.#option(["1", "5", "99.9", "100"])];
    if (kind < 0.4) return ["threshold", this.#option(["0", "1", "0.25", "-0", "-0.0"])];
    if (kind < 0.5) return ["filter", this.#pick(FILTERS)];
    if (kind < 0.52) return ["filter", this.#value()];
    if (kind < 0.64) return ["vector", this.#vector(length)];
    if (kind < 0.66) return ["dimension", this.#option([String(length)])];
    return [this.#pick(NAMES), this.#value()];
  }

  #option(valid: readonly string[]): string {
    if (this.#chance(0.7)) return this.#pick(valid);
    return this.#chance(0.6) ? this.#pick([...OPTIONS, ...NUMBERS]) : this.#scalar();
  }

  #scalar(): string {
    return this.#pick(this.#chance(0.02) ? BROKEN : VALUES);
  }

  #value(): string {
    const kind = this.random();
    if (kind < 0.4) return this.#scalar();
    if (kind < 0.7) return this.#pick(NUMBERS);
    if (kind < 0.8) return this.#pick(FILTERS);
    if (kind < 0.85) {
      const depth = this.#pick([3, 15, 17, 70, 600]);
      const closed = depth - (this.#chance(0.1) ? 1 : 0);
      return "[".repeat(depth) + this.#scalar() + "]".repeat(closed);
    }
    const items = Array.from({ length: this.#below(4) }, () => this.#scalar());
    if (this.#chance(0.5)) return `[${items.join(",")}]`;
    return `{${items.map((item) => `"${this.#pick(NAMES)}":${item}`).join(",")}}`;
  }

  #vector(length: number): string {
    const kind = this.random();
    if (kind < 0.03) return this.#value();
    return kind < 0.4 ? this.#base64(length) : this.#array(length);
  }

  #array(length: number): string {
    const pool = Array.from({ length: 8 }, () => this.#element());
    const elements = Array.from({ length }, (_, i) => pool[i % pool.length] as string);
    if (this.#chance(0.02)) elements.fill(this.#pick(["0", "-0.0", "1e-60", "0.5"]));
    const changed = this.#chance(0.3) ? this.#below(this.#chance(0.1) ? 60 : 4) : 0;
    for (let i = 0; i < changed && length > 0; i++) {
      elements[this.#below(length)] = this.#chance(0.8) ? this.#pick(NUMBERS) : this.#scalar();
    }
    if (this.#chance(0.01)) elements[this.#below(length + 1)] = this.#pick(BROKEN);
    return `[${this.#space()}${elements.join(this.#pick([",", ",", ", ", ",\n  ", "\t,\r "]))}${this.#space()}]`;
  }

  /** An element as vectors have them, in one of the forms in which clients write them. */
  #element(): string {
    const value = this.random() * 2 - 1;
    const kind = this.random();
    if (kind < 0.3) return String(value);
    if (kind < 0.6) return String(Math.fround(value));
    if (kind < 0.7) return value.toFixed(this.#below(30));
    if (kind < 0.8) return value.toExponential(this.#below(20));
    if (kind < 0.9) return (value * 10 ** (this.#below(90) - 45)).toPrecision(1 + this.#below(40));
    // Half-way between two neighbouring float32, or nearly so.
    const low = Math.fround(value);
    const half = low + (Math.fround(low * (1 + 2 ** -23)) - low) / 2;
    return (half * (1 + (this.#below(5) - 2) * Number.EPSILON)).toFixed(20 + this.#below(20));
  }

  #base64(length: number): string {
    const floats = Float32Array.from({ length }, () => this.random() - 0.5);
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -0, 1e-45];
    for (let i = this.#chance(0.1) ? this.#below(50) : 0; i > 0; i--) {
      floats[this.#below(length)] = this.#pick(odd);
    }
    if (this.#chance(0.02)) floats.fill(0);
    const text = Buffer.from(floats.buffer).toString("base64");
    const kind = this.random();
    if (kind < 0.1) return `"${text.replace(/=+$/, "")}"`;
    if (kind < 0.15) return `"${text.replaceAll("/", "\\/")}"`;
    if (kind < 0.2)
      return `"${text}${this.#pick(["A", "AA", "AAA", "AA==", "AAAA", "=", "==", "\u00e9", "\\n"])}"`;
    if (kind < 0.23)
      return `"${text.slice(0, -this.#below(6))}${this.#pick(["", "B", "/=", "+=", "9=="])}"`;
    if (kind < 0.24)
      return `"${"A".repeat(43_692 + this.#below(10))}${this.#pick(["", "\u00e9", "\u{1f680}"])}"`;
    return `"${text}"`;
  }

  #mutated(bytes: Buffer): Buffer<ArrayBuffer> {
    // Most of a body is its vector, and the ends have the other members.
    const share = this.#chance(0.6)
      ? this.#pick([0, 1]) + (this.random() - 0.5) / 20
      : this.random();
    const at = Math.min(bytes.length, Math.max(0, Math.floor(share * bytes.length)));
    const insert = this.#chance(0.15)
      ? Buffer.from(this.#pick(BYTES))
      : Buffer.from(this.#pick(PIECES));
    const dropped = this.#chance(0.1) ? bytes.length : this.#below(4);
    return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + dropped)]);
  }
}
