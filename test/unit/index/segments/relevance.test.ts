import { describe, expect, test } from "bun:test";
import { mean } from "../../../../bench/harness/statistics.ts";
import { readCorpus } from "../../../../bench/relevance/corpus.ts";
import { measure, RANKS } from "../../../../bench/relevance/measure.ts";
import { KINDS, knownItemQueries } from "../../../../bench/relevance/queries.ts";
import { synthesise } from "../../../../bench/relevance/synthesise.ts";
import { tessera } from "../../../../bench/relevance/tessera.ts";

const HANDBOOK = `${import.meta.dir}/../../../../fixtures/docs`;

/** Lower bound of the mean reciprocal rank. */
const FLOOR = 0.97;
/** The same for ten times as many recombined documents, whose titles differ in one word. */
const GROWN_FLOOR = 0.9;

describe("relevance on the handbook", () => {
  const documents = readCorpus(HANDBOOK);

  for (const seed of [1, 2]) {
    const queries = knownItemQueries(documents, seed, 80);
    const measured = measure(tessera(documents), queries);
    for (const kind of KINDS) {
      test(`known items are found by ${kind} (seed ${seed})`, () => {
        expect(queries.filter((query) => query.kind === kind).length).toBeGreaterThan(30);
        expect(measured.byKind[kind]).toBeGreaterThanOrEqual(FLOOR);
      });
    }
  }

  test("titles are found among ten times as many documents with the same words", () => {
    const grown = synthesise(documents, 700, 3);
    const system = tessera(grown);
    const queries = knownItemQueries(grown, 4, 100).filter((query) => query.kind === "title");
    const gains = queries.map((query) => {
      const rank = system(query.text).slice(0, RANKS).indexOf(query.path);
      return rank < 0 ? 0 : 1 / (rank + 1);
    });
    expect(mean(gains)).toBeGreaterThanOrEqual(GROWN_FLOOR);
  });

  test("realistic questions find the right page", () => {
    const system = tessera(documents);
    const expected: Array<[string, string]> = [
      ["how do I roll back a release", "concepts/releases.md"],
      ["rolling back", "concepts/releases.md"],
      ["kubernetes readiness probe", "operations/health-checks.md"],
      ["recieving webhoks", "http/webhooks.md"],
      ["typo tolernce", "text/typo-tolerance.md"],
      ["umlaute", "languages/de/volltextsuche.md"],
      ["similarité cosinus", "languages/fr/recherche-vectorielle.md"],
      ["転置インデックス", "languages/ja/zenbun-kensaku.md"],
      ["復元", "languages/ja/bakkuappu.md"],
      ["ndjson", "reference/ndjson-records.md"],
    ];
    for (const [query, path] of expected) expect([query, system(query)[0]]).toEqual([query, path]);
  });
});
