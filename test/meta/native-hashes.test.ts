import { expect, test } from "bun:test";
import { codeOf, filesOf } from "./sources.ts";

/** Files with a hash table whose keys no caller can choose, with what they are. */
const OTHER_KEYS: Readonly<Record<string, string>> = {
  "native/src/binding/text_arguments.hpp": "numbers that the service gives to views",
  "native/src/common/recently_used.hpp": "what its users hash: addresses, and keyed hashes",
  "native/src/fields/field_store.hpp": "keyed hashes of the ids of versions",
  "native/src/project/bitmap.hpp": "keyed hashes of pages",
  "native/src/snapshot/snapshot_codec.cc": "addresses of pages",
};

const files = filesOf("native/src/**/*.{cc,hpp}");

test("no key that callers choose for a table of native code can be made to collide", () => {
  const unkeyed = files.filter((file) => {
    const tables = codeOf(file).match(/std::unordered_\w+<[^;]*;/g) ?? [];
    return tables.some((table) => !/\bKeyedHash\b/.test(table));
  });
  expect(unkeyed).toEqual(Object.keys(OTHER_KEYS));
});

test("native code hashes by std::hash nowhere, and by a checksum only in snapshots", () => {
  expect(files.filter((file) => /std::hash\b/.test(codeOf(file)))).toEqual([]);
  const summing = files.filter((file) => codeOf(file).includes('#include "common/checksum.hpp"'));
  const others = summing.filter((file) => !file.startsWith("native/src/snapshot/"));
  expect(others).toEqual([
    "native/src/binding/calls_snapshots.cc",
    "native/src/common/checksum.cc",
  ]);
});
