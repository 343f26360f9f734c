import { encodeEmbedding } from "../../documents/embedding.ts";

/** The body of a vector search over HTTP. The vector is base64 unless `array` is true. */
export function searchBody(
  vector: Float32Array,
  { limit, threshold, array = false }: { limit: number; threshold?: number; array?: boolean },
): object {
  const { dimension, base64 } = encodeEmbedding(vector);
  return {
    vector: array ? [...vector] : base64,
    dimension,
    limit,
    ...(threshold === undefined ? {} : { threshold }),
  };
}
