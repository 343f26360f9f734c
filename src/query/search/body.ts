import { isUtf8 } from "node:buffer";
import { filterSpan, parseSearchBody, type SearchFaults } from "../../../native/index.ts";
import { type FilterText, readFilter, readFilterParameter } from "../../content/scopes/filter.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { SEARCH_LIMIT_DEFAULT, SEARCH_THRESHOLD_DEFAULT } from "../../domain/limits.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { FieldError } from "../../domain/problem/schema.ts";
import { validator } from "../../domain/problem/validate.ts";
import { floatsOf } from "../../domain/vector.ts";
import type { VectorOptions } from "../../engine/requests/request.ts";
import { notJson, notUtf8 } from "../../http/json-body.ts";
import { SearchOptions } from "./schema.ts";
import { checkVector, vectorError } from "./vector.ts";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const checkOptions = validator(SearchOptions);

/** The options, or their faults. */
function optionsOf(value: unknown): SearchOptions | FieldError[] {
  try {
    return checkOptions(value);
  } catch (error) {
    if (error instanceof Problem && error.options.errors) return error.options.errors;
    throw error;
  }
}

/** The errors of all parts of a search, of which the faulty ones are lists. */
const problemOf = (...parts: readonly unknown[]): Problem =>
  invalid(parts.flatMap((part) => (Array.isArray(part) ? (part as FieldError[]) : [])));

/** The problem of a JSON body with these faults, and of its filter. */
export function searchProblem(faults: SearchFaults, filter: FilterText | FieldError[]): Problem {
  if ("vector" in faults) {
    const options = optionsOf(faults.options);
    const dimension = Array.isArray(options) ? undefined : options.dimension;
    const vector = faults.vector.map((fault) => vectorError(fault, { dimension }));
    return problemOf(vector, options, filter);
  }
  if (faults.body !== "object") return notJson(faults.body === "required");
  return invalid([{ field: "body", message: "must be an object" }]);
}

const FILTER = Buffer.from('"filter"');
/** The beginning of every escape of a letter. */
const ESCAPED = Buffer.from("\\u00");

/** False for a JSON body without a filter. Looking for the name is far quicker than going through the members. */
export function mayHaveFilter({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return bytes.includes(FILTER) || bytes.includes(ESCAPED);
}

/**
 * The filter of a JSON body, whose other members the engine reads. Throws a problem about a body that is not UTF-8, and about
 * a whole body with an invalid filter.
 */
export function filterOf(body: Uint8Array<ArrayBuffer>): FilterText {
  if (!isUtf8(body)) throw notUtf8(body);
  const span = mayHaveFilter(body) ? filterSpan(body) : null;
  if (span === null) return null;
  const filter = readFilter(parsePart(body.subarray(span.start, span.end)));
  if (!Array.isArray(filter)) return filter;
  const parsed = parseSearchBody(body);
  throw "limit" in parsed ? problemOf(filter) : searchProblem(parsed, filter);
}

function parsePart(json: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(json).toString());
  } catch {
    // It is nested too deeply for numbers to be kept as they are written.
    throw notJson(false);
  }
}

/** The number that a query parameter spells, or else its text. */
function numeric(text: string): number | string {
  return NUMBER.test(text) ? Number(text) : text;
}

/** The options and the filter of a binary body, which is the vector. Throws a problem about all three. */
export function readOctets(
  bytes: Uint8Array,
  query: Readonly<Record<string, string>>,
): { readonly vector: VectorOptions; readonly filter: FilterText } {
  const given: Record<string, unknown> = {};
  for (const name of ["dimension", "limit", "threshold"]) {
    const text = query[name];
    if (text !== undefined) given[name] = numeric(text);
  }
  const options = optionsOf(given);
  const dimension = Array.isArray(options) ? undefined : options.dimension;
  const isWhole = bytes.byteLength > 0 && bytes.byteLength % 4 === 0;
  const vector = isWhole
    ? checkVector(floatsOf(bytes), { dimension })
    : [{ field: "vector", message: "must be little-endian float32: 4 bytes per element" }];
  const filter = readFilterParameter(query["filter"]);
  if (Array.isArray(options) || Array.isArray(vector) || Array.isArray(filter)) {
    throw problemOf(vector, options, filter);
  }
  const { limit = SEARCH_LIMIT_DEFAULT, threshold = SEARCH_THRESHOLD_DEFAULT } = options;
  const known = { dimension: options.dimension, limit: Math.floor(limit), threshold };
  return { vector: known, filter };
}
