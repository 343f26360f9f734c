import { expect, test } from "bun:test";
import { constants } from "../../native/testing.ts";
import {
  FILTER_STRING_MAX_CHARS,
  IGNORED_FIELDS_MAX,
  PROBLEM_MAX_FIELD_ERRORS,
  SNIPPET_MAX_CHARS,
  WORD_MAX_CHARS,
} from "../../src/domain/limits.ts";
import { SearchOptions } from "../../src/query/search/schema.ts";
import { BASE64_MAX_CHARS } from "../../src/query/search/vector.ts";

const native = constants();

test("C++ and the schemas of a search state the same limits", () => {
  const { dimension, limit, threshold } = SearchOptions.properties;
  expect(native).toMatchObject({
    dimensions: dimension.anyOf.map(({ const: each }) => each),
    defaultLimit: limit.default,
    minLimit: limit.minimum,
    maxLimit: limit.maximum,
    defaultThreshold: threshold.default,
    minThreshold: threshold.minimum,
    maxThreshold: threshold.maximum,
    maxIgnoredFields: IGNORED_FIELDS_MAX,
    maxFieldFaults: PROBLEM_MAX_FIELD_ERRORS,
    maxBase64Chars: BASE64_MAX_CHARS,
  });
});

test("C++ and TypeScript state the same limits of texts", () => {
  expect(native).toMatchObject({
    maxWordChars: WORD_MAX_CHARS,
    maxSnippetChars: SNIPPET_MAX_CHARS,
    maxFacetValueChars: FILTER_STRING_MAX_CHARS,
  });
});
