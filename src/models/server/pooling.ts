import type { Pooling } from "../../config/embedders.ts";

/** The vectors of the tokens of some texts, one after the other. All texts are padded to the same length. */
interface TokenVectors {
  readonly data: Float32Array;
  /** Tokens per text, with padding, and elements per vector. */
  readonly length: number;
  readonly width: number;
}

/**
 * The vector of a text at unit length, from those of its tokens.
 *
 * @param tokens the number of the text's tokens, which precede the padding
 * @param dimension the number of elements that are kept, from the first
 */
export function pool(
  { data, length, width }: TokenVectors,
  text: number,
  tokens: number,
  { pooling, dimension }: { readonly pooling: Pooling; readonly dimension: number },
): Float32Array {
  const at = (token: number) => (text * length + token) * width;
  const pooled = new Float32Array(dimension);
  if (pooling === "mean") {
    for (let token = 0; token < tokens; token++) {
      const start = at(token);
      for (let i = 0; i < dimension; i++) {
        pooled[i] = (pooled[i] as number) + (data[start + i] as number);
      }
    }
  } else {
    const start = at(pooling === "cls" ? 0 : tokens - 1);
    pooled.set(data.subarray(start, start + dimension));
  }
  return normalised(pooled);
}

/** The direction of a vector. The sum of many has the direction of their mean. */
function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const scale = 1 / Math.sqrt(square);
  return square === 0 ? vector : vector.map((value) => value * scale);
}
