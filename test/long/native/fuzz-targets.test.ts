import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { FUZZ_TARGETS } from "../../../scripts/fuzz-targets.ts";

const FOLDER = "native/fuzz";

test("every fuzz target is listed, and compiles against the sources as they are", async () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".cc"));
  expect(FUZZ_TARGETS.map(({ name }) => `${name}.cc`).sort()).toEqual(files.sort());
  const compiled = await Promise.all(
    FUZZ_TARGETS.map(async ({ name, flags = [] }) => {
      const includes = ["-I", "native/src", "-I", FOLDER];
      const source = `${FOLDER}/${name}.cc`;
      const command = [
        "g++",
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        ...flags,
        ...includes,
        source,
      ];
      const { exitCode, stderr } = await Bun.$`${command}`.quiet().nothrow();
      return exitCode === 0 ? "" : `${source}: ${stderr}`;
    }),
  );
  expect(compiled.filter(Boolean)).toEqual([]);
});
