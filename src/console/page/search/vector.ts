const BYTES = 4;

/** The dimension of a vector in base64 of little-endian float32. */
export const dimensionOf = (vector: string): number => atob(vector).length / BYTES;

/** A pasted vector: a JSON array, the body of a search, or base64 of little-endian float32. */
export function parseVector(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error("Paste a vector first.");
  if (/^[[{]/.test(trimmed)) {
    const value = parseJson(trimmed);
    const vector = Array.isArray(value) ? value : (value as { vector?: unknown } | null)?.vector;
    if (Array.isArray(vector)) return encoded(vector);
    if (typeof vector === "string") return parseVector(vector);
    throw new Error("The JSON has no vector.");
  }
  const base64 = trimmed.replace(/\s/g, "");
  try {
    if (dimensionOf(base64) >= 1) return base64;
  } catch {
    // The text is in neither form, which the error below states.
  }
  throw new Error("The vector is neither a JSON array nor base64.");
}

function encoded(vector: readonly unknown[]): string {
  if (!vector.every((value) => typeof value === "number")) {
    throw new Error("The vector has elements that are no numbers.");
  }
  const view = new DataView(new ArrayBuffer(vector.length * BYTES));
  for (const [index, value] of vector.entries()) view.setFloat32(index * BYTES, value, true);
  return btoa(
    Array.from(new Uint8Array(view.buffer), (byte) => String.fromCharCode(byte)).join(""),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The vector is not valid JSON.");
  }
}
