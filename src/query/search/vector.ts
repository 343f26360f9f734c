import type { VectorFault } from "../../../native/index.ts";
import { DIMENSIONS, PROBLEM_MAX_FIELD_ERRORS } from "../../domain/limits.ts";
import type { FieldError } from "../../domain/problem/schema.ts";
import { floatsOf, vectorFault } from "../../domain/vector.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

const VECTOR_LENGTH_MIN = Math.min(...DIMENSIONS);
const VECTOR_LENGTH_MAX = Math.max(...DIMENSIONS);
/** Twice the length of the longest vector in base64, which has four characters for three bytes. */
export const BASE64_MAX_CHARS = 2 * 4 * Math.ceil((4 * VECTOR_LENGTH_MAX) / 3);

/** The number of elements that a vector must have: `dimension`, if it is known, or else at least `minLength`. */
interface VectorLength {
  readonly dimension: number | undefined;
  readonly minLength?: number;
}

const ANY_LENGTH: VectorLength = { dimension: undefined };

function messageOf({ rule, number }: VectorFault, length: VectorLength): string {
  const { dimension, minLength = VECTOR_LENGTH_MIN } = length;
  const bounds = `must have ${minLength} to ${VECTOR_LENGTH_MAX} elements`;
  switch (rule) {
    case "required":
      return "is required";
    case "form":
      return "must be an array of numbers, or base64 of little-endian float32";
    case "text-length":
      return `${bounds}, and has more`;
    case "length":
      return `${bounds}, and has ${number}`;
    case "dimension":
      return `must have ${dimension} elements, according to dimension, and has ${number}`;
    case "zeros":
      return "must not be all zeros";
    case "number":
      return "must be a number";
    case "float32":
      return "must be a finite number in the range of float32";
  }
}

/** A fault of a vector in words. */
export function vectorError(fault: VectorFault, length = ANY_LENGTH): FieldError {
  const isOfElement = fault.rule === "number" || fault.rule === "float32";
  const field = isOfElement ? `vector[${fault.number}]` : "vector";
  return { field, message: messageOf(fault, length) };
}

/** Errors of the elements that are not finite float32 numbers. */
function elementErrors(values: ArrayLike<unknown>): FieldError[] {
  const errors: FieldError[] = [];
  for (let i = 0; i < values.length && errors.length < PROBLEM_MAX_FIELD_ERRORS; i++) {
    const value = values[i];
    if (typeof value !== "number") errors.push(vectorError({ rule: "number", number: i }));
    else if (!Number.isFinite(Math.fround(value))) {
      errors.push(vectorError({ rule: "float32", number: i }));
    }
  }
  return errors;
}

/** The vector of these elements, or its faults. */
export function checkVector(
  values: ArrayLike<unknown>,
  length: VectorLength,
): Float32Array<ArrayBuffer> | FieldError[] {
  const { dimension, minLength = VECTOR_LENGTH_MIN } = length;
  const isQuick = values instanceof Float32Array && values.length === dimension;
  if (isQuick && vectorFault(values) === undefined) return values as Float32Array<ArrayBuffer>;
  const errors = elementErrors(values);
  if (errors.length > 0) return errors;
  const number = values.length;
  if (number < minLength || number > VECTOR_LENGTH_MAX) {
    return [vectorError({ rule: "length", number }, length)];
  }
  if (dimension !== undefined && number !== dimension) {
    return [vectorError({ rule: "dimension", number }, length)];
  }
  const narrowed = Float32Array.from(values as ArrayLike<number>);
  if (vectorFault(narrowed) !== "all-zeros") return narrowed;
  return [vectorError({ rule: "zeros", number })];
}

/** The vector of a parsed body, or its faults. */
export function decodeVector(
  value: unknown,
  length: VectorLength,
): Float32Array<ArrayBuffer> | FieldError[] {
  if (Array.isArray(value)) return checkVector(value, length);
  // A text that is too long for any vector is not examined, because that would block other requests.
  if (typeof value === "string" && value.length > BASE64_MAX_CHARS) {
    return [vectorError({ rule: "text-length", number: value.length }, length)];
  }
  const bytes =
    typeof value === "string" && BASE64.test(value) ? Buffer.from(value, "base64") : undefined;
  if (bytes === undefined || bytes.byteLength % 4 !== 0) {
    return [vectorError({ rule: "form", number: 0 })];
  }
  return checkVector(floatsOf(bytes), length);
}
