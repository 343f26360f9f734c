import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { isWrittenNumber, mayChange, parseJson } from "./parse.ts";

const CODE = {
  quote: 0x22,
  comma: 0x2c,
  array: 0x5b,
  escape: 0x5c,
  arrayEnd: 0x5d,
  object: 0x7b,
  objectEnd: 0x7d,
  space: 0x20,
} as const;
/** The characters that begin nested values, or end a value that is not a string. */
const STRUCTURE = /["[\]{}]/g;
const END_OF_WORD = /[,\]}\s]/g;

/**
 * True for a schema that accepts any value, or an object with any members. The keyword `isTyped` marks a schema whose
 * values other code checks.
 */
function isOpaque(schema: TSchema): boolean {
  if (schema["isTyped"] === true) return false;
  const { properties, additionalProperties } = schema;
  const hasAnyMembers =
    additionalProperties === true && Object.keys(properties as object).length === 0;
  return hasAnyMembers || ["Unknown", "Any", "Record"].includes(schema[Kind]);
}

const WITH_OPAQUE = new WeakMap<TSchema, boolean>();

/** True if a schema or one of its members is opaque. */
function hasOpaque(schema: TSchema): boolean {
  let known = WITH_OPAQUE.get(schema);
  if (known === undefined) {
    known = isOpaque(schema) || membersOf(schema).some(hasOpaque);
    WITH_OPAQUE.set(schema, known);
  }
  return known;
}

function membersOf(schema: TSchema): TSchema[] {
  const { properties = {}, items, anyOf = [] } = schema;
  return [...Object.values(properties as object), ...(items ? [items] : []), ...anyOf];
}

/**
 * Keeps the numbers in the opaque members of a value as they are written in its text. Other members keep the result of
 * `JSON.parse`.
 *
 * @param text valid JSON
 * @param value the result of `JSON.parse` for it, which is changed
 */
export function keepOpaqueNumbers(schema: TSchema, text: string, value: unknown): void {
  if (!hasOpaque(schema) || !mayChange(text)) return;
  new Reader(text).keep(schema, afterSpace(text, 0), [value], 0);
}

const isHeld = (holder: unknown, name: string | number): boolean =>
  typeof holder === "object" && holder !== null && Object.hasOwn(holder, name);

/** The string of a JSON token. */
const textOf = (token: string): string =>
  token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);

/** Rounds the numbers outside of a value's opaque members. The others stay as they are written. */
export function withRounded(schema: TSchema, value: unknown): unknown {
  const ways: TSchema[] = [schema, ...(schema["anyOf"] ?? [])];
  if (typeof value !== "object" || value === null || ways.some(isOpaque)) return value;
  if (isWrittenNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) {
    const items: TSchema = ways.find((way) => way["items"])?.["items"] ?? TYPED;
    return value.map((item) => withRounded(items, item));
  }
  const ofMember = (name: string): TSchema =>
    ways.find(({ properties }) => properties && Object.hasOwn(properties, name))?.["properties"][
      name
    ] ?? TYPED;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withRounded(ofMember(name), member)]),
  );
}

/** The schema of members that a schema does not name. */
const TYPED = Type.Unknown({ isTyped: true });

function afterSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= CODE.space) at++;
  return at;
}

/** Walks through a JSON text along a schema, and skips members that are not opaque. */
class Reader {
  /** True once a name has occurred twice. The kept value may then be the earlier member's, which does not count. */
  #hasRepeated = false;

  constructor(private readonly text: string) {}

  /** Replaces the opaque members of `holder[name]`, which begins here. Returns its end. */
  keep(schema: TSchema, at: number, holder: unknown, name: string | number): number {
    const { text } = this;
    const members = holder as Record<string | number, unknown>;
    if (!hasOpaque(schema) || !isHeld(holder, name)) return this.#end(at);
    if (isOpaque(schema)) {
      const end = this.#end(at);
      const source = text.slice(at, end);
      if (this.#hasRepeated || mayChange(source)) members[name] = parseJson(source);
      return end;
    }
    for (const each of (schema["anyOf"] as TSchema[] | undefined) ?? []) {
      this.keep(each, at, holder, name);
    }
    const begin = text.charCodeAt(at);
    const { properties, items } = schema;
    const value = members[name];
    if (typeof value !== "object" || value === null) return this.#end(at);
    if (begin === CODE.object && properties) return this.#members(properties, at, value);
    if (begin === CODE.array && items) return this.#items(items, at, value);
    return this.#end(at);
  }

  #members(properties: Record<string, TSchema>, start: number, value: object): number {
    let at = afterSpace(this.text, start + 1);
    let count = 0;
    for (; this.text.charCodeAt(at) !== CODE.objectEnd; count++) {
      const nameEnd = this.#endOfString(at);
      const name = textOf(this.text.slice(at, nameEnd));
      at = afterSpace(this.text, afterSpace(this.text, nameEnd) + 1);
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const end = schema === undefined ? this.#end(at) : this.keep(schema, at, value, name);
      at = this.#afterComma(end);
    }
    if (this.#hasRepeated || count === Object.keys(value).length) return at + 1;
    this.#hasRepeated = true;
    return this.#members(properties, start, value);
  }

  #items(items: TSchema, start: number, value: object): number {
    let at = afterSpace(this.text, start + 1);
    for (let i = 0; this.text.charCodeAt(at) !== CODE.arrayEnd; i++) {
      at = this.#afterComma(this.keep(items, at, value, i));
    }
    return at + 1;
  }

  #afterComma(end: number): number {
    const at = afterSpace(this.text, end);
    return this.text.charCodeAt(at) === CODE.comma ? afterSpace(this.text, at + 1) : at;
  }

  /** The end of the value that begins here. */
  #end(start: number): number {
    const { text } = this;
    const code = text.charCodeAt(start);
    if (code === CODE.quote) return this.#endOfString(start);
    if (code !== CODE.array && code !== CODE.object) return this.#find(END_OF_WORD, start);
    let at = start + 1;
    for (let depth = 1; depth > 0; ) {
      const found = this.#find(STRUCTURE, at);
      const mark = text.charCodeAt(found);
      at = mark === CODE.quote ? this.#endOfString(found) : found + 1;
      if (mark !== CODE.quote) depth += mark === CODE.array || mark === CODE.object ? 1 : -1;
    }
    return at;
  }

  /** The next position of one of these characters. */
  #find(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.test(this.text) ? pattern.lastIndex - 1 : this.text.length;
  }

  #endOfString(start: number): number {
    const { text } = this;
    for (let at = start; ; ) {
      at = text.indexOf('"', at + 1);
      let escapes = 0;
      while (text.charCodeAt(at - 1 - escapes) === CODE.escape) escapes++;
      if (escapes % 2 === 0) return at + 1;
    }
  }
}
