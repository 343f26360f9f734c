const BYTES = 4;

/**
 * A pasted vector: a JSON array, the body of a search, or base64 of little-endian float32.
 *
 * @param {string} text
 * @returns {{ vector: number[] | string, dimension: number }}
 */
export function parseVector(text) {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error("Paste a vector first.");
  if (/^[[{]/.test(trimmed)) {
    const value = parseJson(trimmed);
    const vector = Array.isArray(value) ? value : value?.vector;
    if (Array.isArray(vector)) return { vector, dimension: vector.length };
    if (typeof vector === "string") return parseVector(vector);
    throw new Error("The JSON has no vector.");
  }
  let bytes = 0;
  try {
    bytes = atob(trimmed).length;
  } catch {
    throw new Error("The vector is neither a JSON array nor base64.");
  }
  return { vector: trimmed, dimension: bytes / BYTES };
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The vector is not valid JSON.");
  }
}
