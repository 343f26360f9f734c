import { afterEach, expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import { normalNumbers, randomNumbers } from "../../support/random.ts";
import { appendAll, buildGraph, freshProject, recall, setScope, upTo } from "../native/support.ts";

/**
 * Vectors as a sentence encoder makes them: a common direction, of which each has another share, a spectrum that
 * decays, and topics. Questions have fewer topics and hardly any of the common direction, so they are far from
 * all that is stored, and their nearest chunks are rarely near to each other.
 */
const TOPICS = 120;
const SPECTRUM = -0.6;
const DOCUMENTS = { topics: 3, noise: 0.8, leastCommon: 0.1, mostCommon: 0.85 };
const QUESTIONS = { topics: 2, noise: 1, leastCommon: 0.05, mostCommon: 0.05 };

const COUNT = 8_000;
const QUERIES = 300;
const RECALL_MIN = 0.99;
/** Copies of each vector, and by how much their elements differ. */
const COPIES = 5;
const COPY_NOISE = 1e-7;

function scaled(vector: Float32Array, length: number): Float32Array {
  const factor = length / Math.hypot(...vector);
  return vector.map((element) => element * factor);
}

function encoder(dimension: number, seed: number) {
  const normal = normalNumbers(seed);
  const uniform = randomNumbers(seed + 1);
  const spectrum = scaled(
    Float32Array.from({ length: dimension }, (_, i) => (i + 1) ** SPECTRUM),
    1,
  );
  const drawn = (weight: number) => spectrum.map((s) => weight * s * normal());
  const topics = upTo(TOPICS).map(() => drawn(1));
  const common = scaled(
    spectrum.map(() => normal()),
    1,
  );
  return (kind: typeof DOCUMENTS): Float32Array<ArrayBuffer> => {
    const own = drawn(kind.noise);
    for (let part = 0; part < kind.topics; part++) {
      // Squaring favours the first topics, as some subjects are written about more than others.
      const topic = topics[Math.floor(uniform() ** 2 * TOPICS)] as Float32Array;
      const weight = uniform();
      for (let i = 0; i < dimension; i++)
        own[i] = (own[i] as number) + weight * (topic[i] as number);
    }
    const share = kind.leastCommon + (kind.mostCommon - kind.leastCommon) * uniform();
    const special = scaled(own, Math.sqrt(1 - share));
    return Float32Array.from(special, (s, i) => s + Math.sqrt(share) * (common[i] as number));
  };
}

function indexed(vectors: readonly Float32Array[], dimension: number): string {
  const all = new Float32Array(vectors.length * dimension);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimension);
  const project = freshProject();
  native.openProject(project);
  appendAll(project, dimension, all);
  buildGraph(project, dimension);
  setScope(project, "all", dimension, upTo(vectors.length));
  return project;
}

/** Expects what users are promised, also where the graph is forced, which small sets rarely need. */
function expectFound(
  project: string,
  dimension: number,
  queries: Record<string, Float32Array<ArrayBuffer>[]>,
): void {
  for (const [kind, vectors] of Object.entries(queries)) {
    for (const limit of [10, 100]) {
      for (const plan of [undefined, "graph"] as const) {
        const found = recall(project, "all", dimension, vectors, limit, plan);
        const searches = `${kind}, ${limit} results, ${plan ?? "as planned"}`;
        expect(found.recall, searches).toBeGreaterThanOrEqual(RECALL_MIN);
        expect(found.short, `short answers, ${searches}`).toBe(0);
      }
    }
  }
}

afterEach(() => {
  for (const project of native.projects()) native.dropProject(project);
});

for (const [dimension, seed] of [
  [768, 3],
  [768, 81],
  [1536, 82],
] as const) {
  test(`embeddings of a sentence encoder, ${dimension}, seed ${seed}: questions find their neighbours as passages do`, () => {
    const encode = encoder(dimension, seed);
    const project = indexed(
      upTo(COUNT).map(() => encode(DOCUMENTS)),
      dimension,
    );
    expectFound(project, dimension, {
      passages: upTo(QUERIES).map(() => encode(DOCUMENTS)),
      questions: upTo(QUERIES).map(() => encode(QUESTIONS)),
    });
  });
}

test("where each passage is stored five times with little noise, questions find all copies", () => {
  const dimension = 768;
  const encode = encoder(dimension, 84);
  const normal = normalNumbers(85);
  const vectors = upTo(COUNT / COPIES).flatMap(() => {
    const vector = encode(DOCUMENTS);
    return upTo(COPIES).map(() => vector.map((element) => element + normal() * COPY_NOISE));
  });
  expectFound(indexed(vectors, dimension), dimension, {
    passages: upTo(QUERIES).map(() => encode(DOCUMENTS)),
    questions: upTo(QUERIES).map(() => encode(QUESTIONS)),
  });
});
