import { encodeVector } from "../../../../client/src/vector.ts";

const BYTES = 4;

/** The dimension of a vector in base64 of little-endian float32. */
export const dimensionOf = (vector: string): number => atob(vector).length / BYTES;

/** A pasted vector: a JSON array, the body of a search, or base64 of little-endian float32. */
export function parseVector(text: string): string {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    const value = parseJson(trimmed);
    const vector = Array.isArray(value) ? value : (value as { vector?: unknown } | null)?.vector;
    if (typeof vector === "string") return parseVector(vector);
    if (!Array.isArray(vector)) throw new Error("The JSON has no vector.");
    if (vector.every((element) => typeof element === "number")) return encodeVector(vector);
    throw new Error("The vector has elements that are no numbers.");
  }
  const base64 = trimmed.replace(/\s/g, "");
  try {
    if (dimensionOf(base64) >= 1) return base64;
  } catch {
    // The text is in neither form, which the error below states.
  }
  throw new Error("The vector is neither a JSON array nor base64.");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The vector is not valid JSON.");
  }
}
