import { expect, test } from "bun:test";
import { parseEmbedding } from "../../../src/documents/embedding.ts";
import { DIMENSIONS, EMBEDDER_DIMENSION_MAX } from "../../../src/domain/limits.ts";
import { base64Of, floatsOf } from "../../../src/domain/vector.ts";

test("an embedding of any length is stored with zeros up to the next dimension, as numbers and as base64", () => {
  for (const length of [1, 384, 767, 768, 769, 1_025, EMBEDDER_DIMENSION_MAX]) {
    const vector = new Float32Array(length).fill(0.5);
    const dimension = DIMENSIONS.find((each) => each >= length) as number;
    const stored = new Float32Array(dimension);
    stored.set(vector);
    for (const given of [Array.from(vector), base64Of(vector)]) {
      const parsed = parseEmbedding(given, "embedding");
      expect(parsed.dimension).toBe(dimension);
      expect(floatsOf(Buffer.from(parsed.base64, "base64"))).toEqual(stored);
    }
  }
  for (const length of [0, EMBEDDER_DIMENSION_MAX + 1]) {
    const given = Array(length).fill(1);
    expect(() => parseEmbedding(given, "embedding")).toThrow(`has ${length} elements`);
  }
});
