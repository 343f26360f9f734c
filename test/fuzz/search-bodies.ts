import { parseSearchBody } from "../../native/index.ts";
import { Problem, problemBody } from "../../src/domain/problem/problem.ts";
import { ignoredFields } from "../../src/http/answer-headers.ts";
import { filterOf, searchProblem } from "../../src/query/search/body.ts";
import { must, type Parser } from "./reading.ts";
import { type CheckedSearch, referenceSearch } from "./search-reference.ts";

const DIMENSION = 768;
/** Stands for a vector in an input, so that mutations meet the rest of it. */
const PLACEHOLDER = "VECTOR";
const VECTOR = Buffer.from(new Float32Array(DIMENSION).fill(0.5).buffer).toString("base64");

/** The search of a body as the service reads it. Throws the problem of a body that is not a search. */
function nativeSearch(body: Uint8Array<ArrayBuffer>): CheckedSearch {
  const filter = filterOf(body);
  const parsed = parseSearchBody(body);
  if (!("limit" in parsed)) throw searchProblem(parsed, filter);
  return { ...parsed, filter, ignored: ignoredFields(parsed.ignored) };
}

const bitsOf = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString("latin1");

/** A search with the bits of its vector, or the problem document, as JSON. */
function outcomeOf(
  read: (body: Uint8Array<ArrayBuffer>) => CheckedSearch,
  body: Uint8Array<ArrayBuffer>,
): string {
  try {
    const { vector, dimension, limit, threshold, filter, ignored } = read(body);
    // JSON has no negative zero.
    const values = [dimension, limit, threshold, Object.is(threshold, -0), filter, ignored];
    return JSON.stringify({ bits: bitsOf(vector), values });
  } catch (error) {
    if (error instanceof Problem) return JSON.stringify(problemBody(error, "", ""));
    throw error;
  }
}

/**
 * Fails where the service reads a body in another way than JSON.parse and TypeBox, or refuses it in other words. Returns
 * whether the body is a search.
 */
export function compareBody(body: Uint8Array<ArrayBuffer>): boolean {
  const native = outcomeOf(nativeSearch, body);
  const wanted = outcomeOf(referenceSearch, body);
  must(native === wanted, `read as ${native.slice(-300)} and not as ${wanted.slice(-300)}`);
  return wanted.startsWith('{"bits":');
}

function readBody(input: Uint8Array): void {
  const text = Buffer.from(input).toString("latin1").replaceAll(PLACEHOLDER, VECTOR);
  compareBody(new Uint8Array(Buffer.from(text, "latin1")));
}

const FILTER = '{"path":{"$prefix":"a"}}';
const WHOLE = `"vector":"${PLACEHOLDER}","dimension":${DIMENSION}`;

/** Bodies of searches, which the service parses natively. */
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
    ...["\u00e9", "\u0000", "\\ud800", '"a b":', '"": ', "1e400", "-1e-400", "\ufeff", "\\/"],
  ],
  read: readBody,
};
