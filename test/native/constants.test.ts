import { expect, test } from "bun:test";
import { constants } from "../../native/testing.ts";
import { DISK_FORMATS } from "../../src/shared/disk-formats.ts";
import {
  DIMENSIONS,
  IGNORED_FIELD_MAX_CHARS,
  IGNORED_FIELDS_MAX,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
  SNIPPET_MAX_CHARS,
  WORD_MAX_CHARS,
} from "../../src/shared/limits.ts";

const native = constants();

test("C++ and TypeScript state the same limits of a search", () => {
  expect(native).toMatchObject({
    dimensions: [...DIMENSIONS],
    defaultLimit: SEARCH_LIMIT_DEFAULT,
    maxLimit: SEARCH_LIMIT_MAX,
    defaultThreshold: SEARCH_THRESHOLD_DEFAULT,
    maxIgnoredFields: IGNORED_FIELDS_MAX,
    maxIgnoredFieldChars: IGNORED_FIELD_MAX_CHARS,
  });
});

test("C++ and TypeScript state the same limits of texts", () => {
  expect(native).toMatchObject({
    maxWordChars: WORD_MAX_CHARS,
    maxSnippetChars: SNIPPET_MAX_CHARS,
  });
});

test("C++ and TypeScript state the same version of native snapshots", () => {
  expect(native.snapshotFormat).toBe(DISK_FORMATS.nativeSnapshot);
});
