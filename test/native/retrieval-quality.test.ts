import { describe, expect, test } from "bun:test";
import { readCorpus } from "../../bench/relevance/corpus.ts";
import { type JudgedQuery, meanNdcg, meanReciprocalRank } from "../../bench/relevance/judged.ts";
import { knownItemQueries } from "../../bench/relevance/queries.ts";
import { MODES, Retriever } from "../../bench/relevance/retriever.ts";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { nearVector, randomVector } from "../../support/api/versions.ts";
import { Random } from "../../support/random.ts";

/** What chance may take from a mean of few queries, as a share of it. */
const SHARE_MIN = 0.98;
const RANKS = 10;
const DIMENSION = 768;

type Vector = Float32Array<ArrayBuffer>;

interface Collection {
  readonly documents: readonly KnowledgeDocument[];
  readonly queries: readonly JudgedQuery[];
}

/** The means of both measures, for the hits by text, by vector and by both. */
function measured({ documents, queries }: Collection, passages: Vector[], asked: Vector[]) {
  const retriever = new Retriever(documents, passages);
  const vectors = new Map(queries.map(({ text }, i) => [text, asked[i] as Vector]));
  const figures = MODES.map((mode) => {
    const system = (text: string) =>
      retriever.paths(mode, text, vectors.get(text) as Vector, RANKS);
    return { ndcg: meanNdcg(system, queries), mrr: meanReciprocalRank(system, queries) };
  });
  retriever.close();
  return figures as [Figures, Figures, Figures];
}

interface Figures {
  readonly ndcg: number;
  readonly mrr: number;
}

function expectNoWorse([keyword, semantic, hybrid]: [Figures, Figures, Figures]): void {
  for (const measure of ["ndcg", "mrr"] as const) {
    const better = Math.max(keyword[measure], semantic[measure]);
    expect(hybrid[measure]).toBeGreaterThanOrEqual(SHARE_MIN * better);
  }
}

const TOPICS = 30;
const DOCUMENTS_PER_TOPIC = 12;
const QUERIES_PER_TOPIC = 4;
const WORDS = 400;
const WORDS_PER_TOPIC = 14;

/**
 * Short texts about topics, each with some words of its topic among others, and queries about a topic.
 *
 * @param unknown words of each query that no text has
 */
function topical(seed: number, unknown: number): Collection & { topicOf(i: number): number } {
  const random = new Random(seed);
  const words = Array.from({ length: WORDS }, (_, i) => `w${i.toString(36)}ordo`);
  const pick = (from: readonly string[]) => from[random.below(from.length)] as string;
  const own = Array.from({ length: TOPICS }, () => random.sample(words, WORDS_PER_TOPIC));
  const textOf = (topic: number, about: number, others: number) =>
    [
      ...Array.from({ length: about }, () => pick(own[topic] as string[])),
      ...Array.from({ length: others }, () => pick(words)),
    ].join(" ");
  const documents = Array.from({ length: TOPICS * DOCUMENTS_PER_TOPIC }, (_, i) => {
    const path = `${i}.md`;
    const text = textOf(i % TOPICS, 2 + random.below(4), 6 + random.below(20));
    return { id: path, path, ...parseMarkdown(path, text) };
  });
  const queries = Array.from({ length: TOPICS * QUERIES_PER_TOPIC }, (_, i) => {
    const relevant = documents.filter((_, d) => d % TOPICS === i % TOPICS).map(({ path }) => path);
    const others = Array.from({ length: unknown }, (_, u) => ` qz${i}x${u}`).join("");
    return { text: textOf(i % TOPICS, 3, 2) + others, relevant: new Set(relevant) };
  });
  return { documents, queries, topicOf: (i) => i % TOPICS };
}

describe("retrieval by text and vector", () => {
  /** Vectors that are the further from their topics, the more noise they have. */
  function measuredTopics(noise: number, unknown: number) {
    const collection = topical(3, unknown);
    const topics = Array.from({ length: TOPICS }, (_, i) => randomVector(DIMENSION, i + 1));
    const near = (i: number, seed: number) =>
      nearVector(topics[collection.topicOf(i)] as Vector, noise, seed + i);
    const passages = collection.documents.map((_, i) => near(i, 1_000));
    const asked = collection.queries.map((_, i) => near(i, 5_000));
    return measured(collection, passages, asked);
  }

  test.each([
    ["hardly anything", 9],
    ["nothing", 90],
  ])("takes nothing from the words where vectors know %s", (_, noise) => {
    expectNoWorse(measuredTopics(noise, 0));
  });

  test("relies on vectors where no document holds most words of the query", () => {
    expectNoWorse(measuredTopics(2, 15));
    expectNoWorse(measuredTopics(4, 8));
  });

  test.each([DIMENSION, 24])(
    "finds known items as the words do beside hashing to %d elements",
    (size) => {
      const documents = readCorpus(`${import.meta.dir}/../../fixtures/docs`);
      const items = knownItemQueries(documents, 5, 20);
      const queries = items.map(({ text, path }) => ({ text, relevant: new Set([path]) }));
      const padded = (vector: Float32Array) => {
        const wide = new Float32Array(DIMENSION);
        wide.set(vector);
        return wide;
      };
      const passages = documents.map(({ title, content }) =>
        padded(embedPassage([title], content, size)),
      );
      const asked = queries.map(({ text }) => padded(embed(text, size)));
      expectNoWorse(measured({ documents, queries }, passages, asked));
    },
  );
});
