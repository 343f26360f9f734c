import { expect, test } from "bun:test";
import { parseSearch } from "../../../../src/api/search/body.ts";
import { DIMENSIONS } from "../../../../src/shared/limits.ts";
import { base64Of } from "../../../../src/shared/vector.ts";
import { randomVector } from "../../../../support/api/versions.ts";

test.each([...DIMENSIONS])("a vector of %d dimensions is read from base64", (dimension) => {
  const vector = randomVector(dimension, 1);
  const body = JSON.stringify({ vector: base64Of(vector), dimension });
  expect(parseSearch(new TextEncoder().encode(body)).vector).toEqual(vector);
});
