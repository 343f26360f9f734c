const PIECE_BYTES = 8_192;

/** A vector as base64 of little-endian float32, a quarter of its size as a JSON array. */
export function encodeVector(vector: ArrayLike<number>): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (let i = 0; i < vector.length; i++) view.setFloat32(i * 4, vector[i] as number, true);
  const bytes = new Uint8Array(view.buffer);
  let text = "";
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(from, from + PIECE_BYTES));
  }
  return btoa(text);
}

/** The numbers of a vector in base64 of little-endian float32. */
export function decodeVector(text: string): number[] {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
}
