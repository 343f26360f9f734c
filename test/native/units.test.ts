import { expect, test } from "bun:test";
import { sourceFiles, sourcesOf, unitsFor, vendoredFiles } from "../../native/units.ts";

const units = [...unitsFor("x64"), ...unitsFor("arm64")];

test("a change of any source compiles a unit again", () => {
  const known = new Set(units.flatMap(sourcesOf));
  expect([...known].sort()).toEqual([...vendoredFiles(), ...sourceFiles()].sort());
});

test("a unit depends on what its headers include, and not on sources of other units", () => {
  const [unit] = units.filter(({ name }) => name === "kernels_avx2");
  const sources = unit === undefined ? [] : sourcesOf(unit);
  expect(sources).toContain("src/kernels/kernels_avx2.cc");
  expect(sources).toContain("src/kernels/kernels_common.hpp");
  expect(sources).not.toContain("src/retrieval/retrieve.cc");
});
