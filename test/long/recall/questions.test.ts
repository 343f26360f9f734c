import { afterEach, expect, test } from "bun:test";
import { DOCUMENTS, encoder, QUESTIONS } from "../../../bench/recall/encoder-vectors.ts";
import { normalNumbers } from "../../../support/random.ts";
import {
  appendAll,
  buildGraph,
  dropProjects,
  openedWithGraph,
  recall,
  setScope,
  upTo,
} from "../../native/support.ts";

const COUNT = 8_000;
const QUERIES = 300;
const RECALL_MIN = 0.99;
/** Copies of each vector, and by how much their elements differ. */
const COPIES = 5;
const COPY_NOISE = 1e-7;
/** Rounds in which passages are replaced. */
const ROUNDS = 10;

function indexed(vectors: readonly Float32Array[], dimension: number): string {
  const all = new Float32Array(vectors.length * dimension);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimension);
  return openedWithGraph(all, dimension);
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

afterEach(dropProjects);

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

test("after half of the passages were replaced in ten rounds, questions find the new ones", () => {
  const dimension = 768;
  const encode = encoder(dimension, 86);
  const drawn = (count: number) => upTo(count).map(() => encode(DOCUMENTS));
  const project = indexed(drawn(COUNT), dimension);
  const perRound = COUNT / 2 / ROUNDS;
  let members = upTo(COUNT);
  for (let round = 0; round < ROUNDS; round++) {
    const next = COUNT + round * perRound;
    const vectors = new Float32Array(perRound * dimension);
    for (const [i, vector] of drawn(perRound).entries()) vectors.set(vector, i * dimension);
    appendAll(project, dimension, vectors, next);
    // Those that are replaced are spread over the index.
    const replaced = new Set(upTo(perRound).map((i) => members[i * 2] as number));
    members = [
      ...members.filter((each) => !replaced.has(each)),
      ...upTo(perRound).map((i) => next + i),
    ];
    setScope(project, "all", dimension, members);
    buildGraph(project, dimension);
  }
  expectFound(project, dimension, {
    passages: drawn(QUERIES),
    questions: upTo(QUERIES).map(() => encode(QUESTIONS)),
  });
});
