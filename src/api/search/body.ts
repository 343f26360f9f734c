import { Type } from "@sinclair/typebox";
import type { VectorOptions } from "../../engine/requests/request.ts";
import { ignoredFields } from "../../http/answer-headers.ts";
import { parseBody } from "../../http/json-body.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import type { FieldError } from "../../problem/schema.ts";
import { validator } from "../../problem/validate.ts";
import { Filter } from "../../shared/filter/schema.ts";
import {
  DIMENSIONS,
  PROBLEM_MAX_FIELD_ERRORS,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_THRESHOLD_DEFAULT,
} from "../../shared/limits.ts";
import { floatsOf, vectorFault } from "../../shared/vector.ts";
import { type FilterText, readFilter, readFilterParameter } from "../scopes/filter.ts";
import { SearchOptions } from "./schema.ts";

/** A search whose values have all been checked. */
interface CheckedSearch {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly options: VectorOptions;
  readonly filter: FilterText;
  /** Names of unknown fields, as a header shows them. */
  readonly ignored: string;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const VECTOR_LENGTH_MIN = Math.min(...DIMENSIONS);
const VECTOR_LENGTH_MAX = Math.max(...DIMENSIONS);
/** Twice the length of the longest vector in base64, which has four characters for three bytes. */
const BASE64_MAX_CHARS = 2 * 4 * Math.ceil((4 * VECTOR_LENGTH_MAX) / 3);

const lengthMessage = (minLength: number) =>
  `must have ${minLength} to ${VECTOR_LENGTH_MAX} elements`;

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

/** Errors of the elements that are not finite float32 numbers. */
function elementErrors(values: ArrayLike<unknown>): FieldError[] {
  const errors: FieldError[] = [];
  for (let i = 0; i < values.length && errors.length < PROBLEM_MAX_FIELD_ERRORS; i++) {
    const value = values[i];
    const field = `vector[${i}]`;
    if (typeof value !== "number") errors.push({ field, message: "must be a number" });
    else if (!Number.isFinite(Math.fround(value))) {
      errors.push({ field, message: "must be a finite number in the range of float32" });
    }
  }
  return errors;
}

/** Checks the elements and their number. `dimension` is undefined when it is invalid itself. */
function checkVector(
  values: ArrayLike<unknown>,
  dimension: number | undefined,
  minLength = VECTOR_LENGTH_MIN,
): Float32Array<ArrayBuffer> | FieldError[] {
  const isQuick = values instanceof Float32Array && values.length === dimension;
  if (isQuick && vectorFault(values) === undefined) return values as Float32Array<ArrayBuffer>;
  const errors = elementErrors(values);
  if (errors.length > 0) return errors;
  if (values.length < minLength || values.length > VECTOR_LENGTH_MAX) {
    return [{ field: "vector", message: `${lengthMessage(minLength)}, and has ${values.length}` }];
  }
  if (dimension !== undefined && values.length !== dimension) {
    const message = `must have ${dimension} elements, according to dimension, and has ${values.length}`;
    return [{ field: "vector", message }];
  }
  const narrowed = Float32Array.from(values as ArrayLike<number>);
  if (vectorFault(narrowed) !== "all-zeros") return narrowed;
  return [{ field: "vector", message: "must not be all zeros" }];
}

/**
 * The vector of a JSON body, or its faults.
 *
 * @param minLength minimum number of elements
 */
export function decodeVector(
  value: unknown,
  dimension: number | undefined,
  minLength = VECTOR_LENGTH_MIN,
): Float32Array<ArrayBuffer> | FieldError[] {
  if (value === undefined) return [{ field: "vector", message: "is required" }];
  if (Array.isArray(value)) return checkVector(value, dimension, minLength);
  const message = "must be an array of numbers, or base64 of little-endian float32";
  // A text that is too long for any vector is not examined, because that would block other requests.
  if (typeof value === "string" && value.length > BASE64_MAX_CHARS) {
    return [{ field: "vector", message: `${lengthMessage(minLength)}, and has more` }];
  }
  if (typeof value !== "string" || !BASE64.test(value)) return [{ field: "vector", message }];
  const bytes = Buffer.from(value, "base64");
  if (bytes.byteLength % 4 !== 0) return [{ field: "vector", message }];
  return checkVector(floatsOf(bytes), dimension, minLength);
}

function checked(
  options: SearchOptions | FieldError[],
  filter: FilterText | FieldError[],
  decode: (dimension: number | undefined) => Float32Array<ArrayBuffer> | FieldError[],
): CheckedSearch {
  const known = Array.isArray(options) ? undefined : options;
  const vector = decode(known?.dimension);
  const vectorErrors = Array.isArray(vector) ? vector : [];
  if (Array.isArray(vector) || known === undefined || Array.isArray(filter)) {
    const filterErrors = Array.isArray(filter) ? filter : [];
    throw invalid([...vectorErrors, ...(Array.isArray(options) ? options : []), ...filterErrors]);
  }
  const limit = Math.floor(known.limit ?? SEARCH_LIMIT_DEFAULT);
  const threshold = known.threshold ?? SEARCH_THRESHOLD_DEFAULT;
  return { vector, options: { dimension: known.dimension, limit, threshold }, filter, ignored: "" };
}

/** The opaque part of a body. */
const WITH_FILTER = Type.Object({ filter: Filter });
/** Members of a body that are not options. */
const OTHER_NAMES: ReadonlySet<string> = new Set(["vector", "filter"]);
const OPTION_NAMES: ReadonlySet<string> = new Set(
  Object.keys(SearchOptions.properties).filter((name) => !OTHER_NAMES.has(name)),
);

/** Parses and checks a JSON body. Throws a problem that names every invalid field. */
export function parseSearch(bytes: Uint8Array): CheckedSearch {
  const value = parseBody(bytes, WITH_FILTER);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([{ field: "body", message: "must be an object" }]);
  }
  const given = value as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const name of Object.keys(given)) {
    if (OPTION_NAMES.has(name)) options[name] = given[name];
    else if (!OTHER_NAMES.has(name)) unknown.push(name);
  }
  const search = checked(optionsOf(options), readFilter(given["filter"]), (dimension) => {
    return decodeVector(given["vector"], dimension);
  });
  return { ...search, ignored: ignoredFields(unknown) };
}

/** The number that a query parameter spells, or else its text. */
function numeric(text: string): number | string {
  return NUMBER.test(text) ? Number(text) : text;
}

/** Checks a binary body, which is the vector, and the query parameters for its options. */
export function parseOctets(
  bytes: Uint8Array,
  query: Readonly<Record<string, string>>,
): CheckedSearch {
  const options: Record<string, unknown> = {};
  for (const name of ["dimension", "limit", "threshold"]) {
    const text = query[name];
    if (text !== undefined) options[name] = numeric(text);
  }
  return checked(optionsOf(options), readFilterParameter(query["filter"]), (dimension) => {
    if (bytes.byteLength > 0 && bytes.byteLength % 4 === 0) {
      return checkVector(floatsOf(bytes), dimension);
    }
    return [{ field: "vector", message: "must be little-endian float32: 4 bytes per element" }];
  });
}
