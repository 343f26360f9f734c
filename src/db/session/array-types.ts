import type postgres from "postgres";
import { parseJson } from "../../domain/json/parse.ts";

/** How the text of one element becomes a value, and back. Other elements are strings, as in the driver. */
interface Element {
  /** The id of the type of arrays of it. */
  readonly array: number;
  parse?(text: string): unknown;
  write?(value: unknown): string;
}

const number: Omit<Element, "array"> = { parse: Number };
const time: Omit<Element, "array"> = {
  parse: (text) => new Date(text),
  write: (value) => new Date(value as Date).toISOString(),
};
const json: Omit<Element, "array"> = { parse: parseJson, write: JSON.stringify };

/** Element types by their names. Ids of built-in types are the same in each PostgreSQL. */
export const ARRAY_ELEMENTS: Readonly<Record<string, Element>> = {
  bool: { array: 1000, parse: (text) => text === "t" },
  bytea: {
    array: 1001,
    parse: (text) => Buffer.from(text.slice(2), "hex"),
    write: (value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
  },
  name: { array: 1003 },
  int2: { array: 1005, ...number },
  int4: { array: 1007, ...number },
  text: { array: 1009 },
  varchar: { array: 1015 },
  int8: { array: 1016 },
  float4: { array: 1021, ...number },
  float8: { array: 1022, ...number },
  oid: { array: 1028, ...number },
  timestamptz: { array: 1185, ...time },
  uuid: { array: 2951 },
  json: { array: 199, ...json },
  jsonb: { array: 3807, ...json },
};

/** An element of an array as PostgreSQL writes it: in quotes with escapes, or plain. */
const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

function parseArray(text: string, { parse = String }: Element): unknown[] {
  return Array.from(text.matchAll(ELEMENT), ([, quoted, plain]) => {
    if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, "$1"));
    return plain === "NULL" ? null : parse(plain as string);
  });
}

function writeArray(values: readonly unknown[], { write = String }: Element): string {
  const elements = values.map((value) => {
    if (value === undefined)
      throw new TypeError("an array for PostgreSQL has an undefined element");
    return value === null ? "NULL" : `"${write(value).replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${elements.join()}}`;
}

/**
 * The types of arrays with one dimension. Unless it knows them, the driver asks for all types in each new session, which
 * costs the server half as much as the session itself.
 */
export const ARRAY_TYPES: Readonly<Record<string, postgres.PostgresType>> = Object.fromEntries(
  Object.entries(ARRAY_ELEMENTS).map(([name, element]) => [
    `${name}[]`,
    {
      to: element.array,
      from: [element.array],
      parse: (text: string) => parseArray(text, element),
      // Text is an array that the caller has written.
      serialize: (values: readonly unknown[] | string) =>
        typeof values === "string" ? values : writeArray(values, element),
    },
  ]),
);
