import { describe, expect, test } from "bun:test";
import { readCorpus } from "../../bench/relevance/corpus.ts";
import { Retriever } from "../../bench/relevance/retriever.ts";
import { WEAK_SCORE } from "../../src/domain/limits.ts";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import { randomVector } from "../../support/api/versions.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { Random } from "../../support/random.ts";

const documents = readCorpus(`${import.meta.dir}/../../fixtures/docs`);
const passages = documents.map(({ title, content }) => embedPassage([title], content));
const handbook = new Retriever(documents, passages);
onCleanup(async () => handbook.close());
const random = new Random(7);
const MODES = ["keyword", "hybrid"] as const;
const vectorOf = (text: string) => embed(text) as Float32Array<ArrayBuffer>;
const ask = (mode: (typeof MODES)[number], query: string, limit = 10) =>
  handbook.hits(mode, query, vectorOf(query), limit);

describe("the score of a retrieval", () => {
  test("is high for an exact title, and low for nonsense, whatever else is found", () => {
    for (const { path, title } of random.sample(documents, 12)) {
      for (const mode of MODES) {
        const own = ask(mode, title).find((hit) => hit.path === path);
        expect([title, mode, (own?.score ?? 0) > 0.8]).toEqual([title, mode, true]);
      }
    }
    for (const nonsense of ["xyzzyqq", "qwzx vbnmk", "zzkqj wqpx jjxq vvkq"]) {
      for (const { score } of ask("hybrid", nonsense)) expect(score).toBeLessThan(WEAK_SCORE);
      expect(ask("keyword", nonsense)).toEqual([]);
    }
  });

  test("grows with the share of the query that a text covers", () => {
    for (const { title } of random.sample(documents, 12)) {
      for (const mode of MODES) {
        const best = [0, 2, 6].map((others) => {
          const noise = Array.from({ length: others }, (_, i) => `zzkq${i}jx`).join(" ");
          return ask(mode, `${title} ${noise}`.trim())[0]?.score ?? 0;
        });
        expect(best).toEqual(best.toSorted((a, b) => b - a));
        expect(best[2]).toBeLessThan(best[0] as number);
      }
    }
  });

  test("is the cosine in `semantic`, also below 0", () => {
    const opposite = (passages[0] as Float32Array).map((element) => -element);
    const hits = handbook.hits("semantic", "", opposite as Float32Array<ArrayBuffer>, 1_000);
    expect(hits.at(-1)?.path).toBe(documents[0]?.path as string);
    expect(hits.at(-1)?.score).toBeCloseTo(-1, 3);
  });

  test("is from 0 to 1 and never rises, by whatever vectors", () => {
    for (const { title } of random.sample(documents, 12)) {
      const vector = randomVector(768, random.below(1_000)) as Float32Array<ArrayBuffer>;
      const hits = handbook.hits("hybrid", title, vector, 50);
      for (const { score } of hits) expect(score >= 0 && score <= 1).toBe(true);
      const scores = hits.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });
});
