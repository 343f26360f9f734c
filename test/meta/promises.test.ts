import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { textOf } from "./sources.ts";

const REFERENCE = /`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g;

for (const document of ["docs/guarantees.md", "docs/security.md"]) {
  describe(document, () => {
    const rows = textOf(document)
      .split("\n")
      .filter((line) => /^\| (?!promise|threat)/.test(line));

    test(`every promise of ${document} names the test that attacks it`, () => {
      expect(rows.length).toBeGreaterThan(0);
      const unproven = rows.filter((row) => row.matchAll(REFERENCE).next().done);
      expect(unproven).toEqual([]);
    });

    test(`every test that ${document} names exists`, () => {
      const missing = [...textOf(document).matchAll(REFERENCE)].filter(
        ([, file = "", name = ""]) => !existsSync(file) || !textOf(file).includes(name),
      );
      expect(missing.map(([reference]) => reference)).toEqual([]);
    });
  });
}

/** The bounds of promises, each with the constant by which the service keeps it. The named tests wait for the constants. */
const BOUNDS: readonly [words: string, file: string, constant: string][] = [
  ["`index-behind` after five seconds", "src/domain/limits.ts", "CHANGE_WAIT_MAX_MS = 5_000"],
  ["on all nodes within a second", "src/domain/limits.ts", "REVOCATION_BOUND_MS = 1_000"],
  ["take effect within a second", "src/domain/limits.ts", "REVOCATION_BOUND_MS = 1_000"],
  ["takes effect within a second", "src/domain/limits.ts", "REVOCATION_BOUND_MS = 1_000"],
  ["after two seconds at the beginning", "src/domain/limits.ts", "DB_READ_DEADLINE_MS = 2_000"],
  ["for a minute of an outage", "src/ops/ttl-cache.ts", "DB_OUTAGE_GRACE_MS = 60_000"],
  ["once per minute", "src/ops/observability/log-limiter.ts", "LOG_REPEAT_MS = 60_000"],
  ["at most a minute", "src/content/import/backpressure.ts", "VISIBLE_WAIT_MAX_MS = 60_000"],
  ["below 2 MiB", "src/content/files/unindexed-writes.ts", "UNINDEXED_MAX_BYTES = 2_097_152"],
  ["headers above 16 kB", "test/api/odd-http.test.ts", "with a header above 16 kB"],
  ["within ten seconds gets 408", "src/domain/limits.ts", "BODY_READ_TIMEOUT_MS = 10_000"],
];

test("every bound of a promise is one that the code has", () => {
  const promises = textOf("docs/guarantees.md")
    .split("\n")
    .flatMap((line) => /^\| (?!promise)([^|]+) \|/.exec(line)?.[1] ?? []);
  const unit = "(?:seconds?|minutes?|hours?|days?|ms|kB|[KMG]i?B|bytes)";
  const bound = new RegExp(`\\b(?:a|per|two|five|ten|[\\d,.]+) (?:few )?${unit}\\b`);
  const unknown = promises.filter(
    (promise) => bound.test(promise) && !BOUNDS.some(([words]) => promise.includes(words)),
  );
  // A second answer is one after the first.
  expect(unknown.filter((promise) => !/\ba second (?:one|answer)\b/.test(promise))).toEqual([]);
  for (const [words, file, constant] of BOUNDS) {
    expect(
      promises.filter((promise) => promise.includes(words)),
      words,
    ).not.toEqual([]);
    expect(textOf(file), words).toContain(constant);
  }
});
