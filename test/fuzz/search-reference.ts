/** The reference for JSON bodies of searches: JSON.parse, TypeBox, and the messages in their words. */
import { Type } from "@sinclair/typebox";
import { type FilterText, readFilter } from "../../src/content/scopes/filter.ts";
import { Filter } from "../../src/domain/filter/schema.ts";
import { invalid, Problem } from "../../src/domain/problem/problem.ts";
import type { FieldError } from "../../src/domain/problem/schema.ts";
import { validator } from "../../src/domain/problem/validate.ts";
import { ignoredFields } from "../../src/http/answer-headers.ts";
import { parseBody } from "../../src/http/json-body.ts";
import { SearchOptions } from "../../src/query/search/schema.ts";

/** A search whose values have all been checked. */
export interface CheckedSearch {
  readonly vector: Float32Array;
  readonly dimension: number;
  readonly limit: number;
  readonly threshold: number;
  readonly filter: FilterText;
  /** Names of unknown members, as a header shows them. */
  readonly ignored: string;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const BASE64_MAX_CHARS = 43_696;

const checkOptions = validator(SearchOptions);

function optionsOf(value: unknown): SearchOptions | FieldError[] {
  try {
    return checkOptions(value);
  } catch (error) {
    if (error instanceof Problem && error.options.errors) return error.options.errors;
    throw error;
  }
}

const ofVector = (message: string): FieldError[] => [{ field: "vector", message }];

function elementErrors(values: readonly unknown[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, value] of values.entries()) {
    const field = `vector[${i}]`;
    if (typeof value !== "number") errors.push({ field, message: "must be a number" });
    else if (!Number.isFinite(Math.fround(value))) {
      errors.push({ field, message: "must be a finite number in the range of float32" });
    }
    if (errors.length >= 32) break;
  }
  return errors;
}

function checkVector(
  values: readonly unknown[],
  dimension: number | undefined,
): Float32Array | FieldError[] {
  const errors = elementErrors(values);
  if (errors.length > 0) return errors;
  if (values.length < 768 || values.length > 4_096) {
    return ofVector(`must have 768 to 4096 elements, and has ${values.length}`);
  }
  if (dimension !== undefined && values.length !== dimension) {
    const asked = `must have ${dimension} elements, according to dimension`;
    return ofVector(`${asked}, and has ${values.length}`);
  }
  const narrowed = Float32Array.from(values as number[]);
  return narrowed.every((each) => each === 0) ? ofVector("must not be all zeros") : narrowed;
}

function readVector(value: unknown, dimension: number | undefined): Float32Array | FieldError[] {
  if (value === undefined) return ofVector("is required");
  if (Array.isArray(value)) return checkVector(value, dimension);
  const wrong = ofVector("must be an array of numbers, or base64 of little-endian float32");
  if (typeof value === "string" && value.length > BASE64_MAX_CHARS) {
    return ofVector("must have 768 to 4096 elements, and has more");
  }
  if (typeof value !== "string" || !BASE64.test(value)) return wrong;
  const bytes = Buffer.from(value, "base64");
  if (bytes.byteLength % 4 !== 0) return wrong;
  return checkVector(Array.from(new Float32Array(new Uint8Array(bytes).buffer)), dimension);
}

const WITH_FILTER = Type.Object({ filter: Filter });
const OPTION_NAMES: ReadonlySet<string> = new Set(["dimension", "limit", "threshold"]);

/** Throws the problem of a body that is not a search. */
export function referenceSearch(bytes: Uint8Array): CheckedSearch {
  const value = parseBody(bytes, WITH_FILTER);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([{ field: "body", message: "must be an object" }]);
  }
  const given = value as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const name of Object.keys(given)) {
    if (OPTION_NAMES.has(name)) options[name] = given[name];
    else if (name !== "vector" && name !== "filter") unknown.push(name);
  }
  const checked = optionsOf(options);
  const known = Array.isArray(checked) ? undefined : checked;
  const vector = readVector(given["vector"], known?.dimension);
  const filter = readFilter(given["filter"]);
  if (Array.isArray(vector) || known === undefined || Array.isArray(filter)) {
    const lists = [vector, checked, filter].filter(Array.isArray) as FieldError[][];
    throw invalid(lists.flat());
  }
  const { dimension, limit = 10, threshold = 0.7 } = known;
  const ignored = ignoredFields(unknown);
  return { vector, dimension, limit: Math.floor(limit), threshold, filter, ignored };
}
