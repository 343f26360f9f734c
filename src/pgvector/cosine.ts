/** Elements that are added up apart, as the kernels of the native core do. */
const LANES = 8;
/** Below 1, the scores that the rounding of sums gives to a vector's cosine with itself. */
const SCORE_ROUNDING = 1e-14;

/**
 * The dot product in double precision. It adds in the same order as the kernels of the native core
 * (native/src/kernels/kernels_common.hpp), so that both engines return the same scores to the last bit.
 */
function dot(a: Float32Array, b: Float32Array): number {
  const sums = new Float64Array(2 * LANES);
  for (let i = 0; i < a.length; i += 2 * LANES) {
    for (let lane = 0; lane < 2 * LANES; lane++) {
      sums[lane] = (sums[lane] as number) + (a[i + lane] as number) * (b[i + lane] as number);
    }
  }
  const both = (lane: number) => (sums[lane] as number) + (sums[lane + LANES] as number);
  return both(0) + both(1) + (both(2) + both(3)) + (both(4) + both(5) + (both(6) + both(7)));
}

/** Scores vectors against a query: the cosine, from -1 to 1. Lengths are multiples of 16. */
export function cosineTo(query: Float32Array): (vector: Float32Array) => number {
  const inverseNorm = 1 / Math.sqrt(dot(query, query));
  return (vector) => {
    const score = dot(query, vector) * inverseNorm * (1 / Math.sqrt(dot(vector, vector)));
    return score > 1 - SCORE_ROUNDING ? 1 : Math.max(-1, score);
  };
}
