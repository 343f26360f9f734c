import { describe, expect, test } from "bun:test";
import { filesNamedIn, filesOf, findCycle, importsOf, reachable } from "./sources.ts";

describe("the helpers of the repository checks", () => {
  test("imports of values, of types and over several lines are found", () => {
    const found = importsOf("test/meta/imports.test.ts").map(({ specifier }) => specifier);
    expect(found).toEqual(["bun:test", "node:fs", "node:path", "./sources.ts"]);
    const typeImports = importsOf("src/db/migrate.ts").map(({ target }) => target);
    expect(typeImports).toContain("src/db/client.ts");
  });

  test("a file named in a string is found", () => {
    const named = filesNamedIn("support/processes/process.ts");
    expect(named).toContain("src/main.ts");
  });

  test("findCycle returns the members of a cycle, or undefined without one", () => {
    const chain = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
    ]);
    expect(findCycle(chain)).toBeUndefined();
    expect(findCycle(new Map([...chain, ["c", ["a"]]]))).toEqual(["a", "b", "c", "a"]);
  });

  test("reachability follows edges in one direction", () => {
    const graph: Record<string, string[]> = { a: ["b"], c: ["a"] };
    expect([...reachable(["a"], (node) => graph[node] ?? [])]).toEqual(["a", "b"]);
  });

  test("build output and installed packages are not sources", () => {
    expect(filesOf("**/package.json")).toEqual([
      "client/package.json",
      "package.json",
      "src/models/runtime/package.json",
    ]);
  });
});
