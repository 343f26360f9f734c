import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { filesOf, findCycle, ROOT, textOf } from "./sources.ts";

const SOURCES = "native/src";
/** Functions for tests and benchmarks. Only the registration of the addon may include them. */
const TESTING = `${SOURCES}/testing`;
const REGISTRATION = `${SOURCES}/addon.cc`;

const files = filesOf(`${SOURCES}/**/*.{cc,hpp}`);
const folders = [...new Set(files.map((file) => posix.dirname(file)))];

/** The files of the addon that a file includes; headers of systems and packages are in `<>`. */
const includesOf = (file: string): string[] =>
  [...textOf(file).matchAll(/^#include "([^"]+)"/gm)].map(([, path = ""]) =>
    posix.join(SOURCES, path),
  );

test("every C++ include names a file by its path below native/src", () => {
  const missing = files.flatMap((file) =>
    includesOf(file).filter((target) => !existsSync(join(ROOT, target))),
  );
  expect(missing).toEqual([]);
});

test("no two folders of C++ sources include each other, directly or through others", () => {
  const graph = new Map(
    folders.map((folder) => {
      const inside = files.filter((file) => posix.dirname(file) === folder);
      const targets = inside.flatMap(includesOf).map((target) => posix.dirname(target));
      return [folder, new Set(targets.filter((target) => target !== folder))];
    }),
  );
  expect(findCycle(graph)).toBeUndefined();
});

test("no two C++ files include each other, directly or through others", () => {
  const graph = new Map(files.map((file) => [file, includesOf(file)]));
  expect(findCycle(graph)).toBeUndefined();
});

test("what the service runs includes nothing that exists for tests", () => {
  const including = files.filter((file) => {
    const targets = includesOf(file).map((target) => posix.dirname(target));
    return file !== REGISTRATION && posix.dirname(file) !== TESTING && targets.includes(TESTING);
  });
  expect(including).toEqual([]);
});

test("every C++ header is included by another file", () => {
  const included = new Set(files.flatMap(includesOf));
  const headers = files.filter((file) => file.endsWith(".hpp"));
  expect(headers.filter((file) => !included.has(file))).toEqual([]);
});
