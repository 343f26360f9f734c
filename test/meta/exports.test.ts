import { describe, expect, test } from "bun:test";
import { exportedNames, usedNames } from "./exports.ts";
import { filesOf } from "./sources.ts";

/** Exports that only tests and benchmarks import, by file, with the reason. */
const FOR_TESTS: Readonly<Record<string, { names: readonly string[]; reason: string }>> = {
  "native/build.ts": {
    names: ["build", "compileForRelease"],
    reason: "the builds of the sanitizer and of a release",
  },
  "native/prebuilt.ts": {
    names: ["prebuiltPath", "sealPrebuilt"],
    reason: "the build of a release",
  },
  "native/index.ts": {
    names: ["measureRecall", "recalibrate"],
    reason: "recall is measured and restored on demand only",
  },
  "native/testing.ts": {
    names: [
      "snapshotSync",
      "restoreSync",
      "parseSearchBody",
      "exactSearch",
      "searchRaw",
      "setGraphNodes",
      "useHelpers",
      "everyOrdinal",
      "maintainSync",
      "kernelSets",
      "useKernels",
      "runKernel",
      "constants",
      "sipHash",
      "plainText",
      "renderedHeading",
      "renderedContent",
    ],
    reason: "the surface of the addon for tests: parts in isolation, and brute force as reference",
  },
  "src/auth/key-format.ts": { names: ["checksum", "hashKey"], reason: "keys as rows of a test" },
  "src/api/billing/amounts.ts": { names: ["decimalsOf"], reason: "every currency is checked" },
  "src/api/billing/origins.ts": {
    names: ["originOf", "headerOrigin"],
    reason: "property-based tests of what callers control",
  },
  "src/db/embedded.ts": { names: ["EmbeddedDatabase"], reason: "type of a server under test" },
  "src/db/embedded/server.ts": {
    names: ["endLeftServer"],
    reason: "what killed test processes leave is ended",
  },
  "src/db/migrate.ts": { names: ["shippedMigrations"], reason: "the schema that a template has" },
  "src/import/embedders/endpoint.ts": {
    names: ["embeddingsUrl"],
    reason: "all forms of a base URL are checked",
  },
  "src/indexing/text/text-merge-policy.ts": {
    names: ["Sized"],
    reason: "type of its input",
  },
  "src/markdown/index.ts": { names: ["countTokens"], reason: "the estimate is checked" },

  "src/serve.ts": { names: ["serve"], reason: "the service inside a test process" },
  "src/shared/failpoints.ts": { names: ["FAILPOINTS"], reason: "every failpoint is tested" },
  "src/shared/limits.ts": {
    names: ["REVOCATION_BOUND_MS", "CHANGE_VISIBLE_BOUND_MS", "BILLING_BOUND_MS"],
    reason: "promises that fault tests wait for",
  },
  "src/text/index.ts": {
    names: ["DocumentSet", "newView", "hasDocument", "mergeSegments", "InvalidSegmentError"],
    reason: "the text core is tested without the indexes around it",
  },
};

const product = filesOf("{src,workers}/**/*.{ts,tsx}", "native/*.ts");
const others = filesOf("{test,bench,support,scripts}/**/*.ts");

/** The names that files import, by the file they come from. */
function usesOf(files: readonly string[]): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const { target, names } of files.flatMap(usedNames)) {
    const known = uses.get(target) ?? new Set();
    for (const name of names) known.add(name);
    uses.set(target, known);
  }
  return uses;
}

const usedByProduct = usesOf(product);
const usedByOthers = usesOf(others);
const isUsed = (uses: Map<string, Set<string>>, file: string, name: string) =>
  uses.get(file)?.has(name) === true || uses.get(file)?.has("*") === true;

const exported = product.flatMap((file) => exportedNames(file).map((name) => ({ file, name })));
const unused = exported.filter(({ file, name }) => !isUsed(usedByProduct, file, name));

describe("exports of the product", () => {
  test("every one is imported by another file", () => {
    const dead = unused.filter(({ file, name }) => !isUsed(usedByOthers, file, name));
    expect(dead.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });

  test("those that only tests import have a stated reason", () => {
    const unstated = unused.filter(({ file, name }) => {
      return isUsed(usedByOthers, file, name) && !FOR_TESTS[file]?.names.includes(name);
    });
    expect(unstated.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });

  test("the list of exports for tests names only exports", () => {
    const listed = Object.entries(FOR_TESTS).flatMap(([file, { names }]) =>
      names.map((name) => `${file}: ${name}`),
    );
    const existing = new Set(exported.map(({ file, name }) => `${file}: ${name}`));
    expect(listed.filter((entry) => !existing.has(entry))).toEqual([]);
  });
});
