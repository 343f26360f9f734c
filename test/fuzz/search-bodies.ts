import { parseSearchBody } from "../../native/testing.ts";
import { parseSearch } from "../../src/api/search/body.ts";
import { filterMember } from "../../src/api/search/filter-member.ts";
import { Problem } from "../../src/problem/problem.ts";
import { must, type Parser } from "./reading.ts";

const DIMENSION = 768;
/** Stands for a vector in an input, so that mutations meet the rest of it. */
const PLACEHOLDER = "VECTOR";
const VECTOR = Buffer.from(new Float32Array(DIMENSION).fill(0.5).buffer).toString("base64");

/** The search that the full parser reads; undefined for a body that it refuses. */
export function fullyParsed(body: Uint8Array): ReturnType<typeof parseSearch> | undefined {
  try {
    return parseSearch(body);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Fails where the native parser takes a body that the full parser refuses or reads as another search. */
function readBody(input: Uint8Array): void {
  const text = Buffer.from(input).toString("latin1").replaceAll(PLACEHOLDER, VECTOR);
  const body = new Uint8Array(Buffer.from(text, "latin1"));
  const { filter = null, filterAt } = filterMember(body) ?? {};
  const quick = parseSearchBody(body, filterAt);
  if (quick === null) return;
  const full = fullyParsed(body);
  must(full !== undefined, "the native parser takes a body that the full one refuses");
  const { vector, options, ...rest } = full as NonNullable<typeof full>;
  const { vector: quickVector, ignored, ...quickOptions } = quick;
  must(Bun.deepEquals(quickVector, vector), "the vectors differ");
  must(Bun.deepEquals(quickOptions, options), "the options differ");
  must(Bun.deepEquals({ filter, ignored }, rest), "the filters or the ignored fields differ");
}

const FILTER = '{"path":{"$prefix":"a"}}';
const WHOLE = `"vector":"${PLACEHOLDER}","dimension":${DIMENSION}`;

/** Bodies of searches, which two parsers read: a native one that leaves to the other what it does not take. */
export const SEARCH_BODIES: Parser = {
  seeds: [
    `{${WHOLE}}`,
    `{"filter":${FILTER},${WHOLE},"limit":3,"threshold":0.5}`,
    `{"context":[{"ids":[1],"filter":${FILTER}}],${WHOLE}}`,
    `{${WHOLE},"b":{"filter":${FILTER}},"filter":${FILTER},"a":[[1],{"c":"]"}]}`,
    `{"b":1,"1":2,${WHOLE}}`,
  ],
  words: [
    ...['"filter":', FILTER, `,"filter":${FILTER}`, '"fil\\u0074er":', '"x":', '"1":', ',"y":'],
    ...['"limit":', '"threshold":', `,"vector":"${PLACEHOLDER}"`, '"__proto__":', "null", "true"],
    ...["[", "]", "{", "}", ",", ":", '"', "\\", "1", "-0", "0.5", "1e2", "[[1],", " ", "\n", "\t"],
    ...["\u00e9", "\u0000", "\\ud800", '"a b":', '"": '],
  ],
  read: readBody,
};
