import { expect, test } from "bun:test";
import { DOCUMENTS, encoder, QUESTIONS } from "../../bench/recall/encoder-vectors.ts";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { appendAll, buildGraph, opened, setScope, upTo } from "./support.ts";

const DIMENSION = 768;
const COUNT = 3_000;
const QUERIES = 100;
const LIMITS = [1, 5, 10, 20, 50, 99] as const;
const LARGEST = 100;
const SEED = 17;

test("the list of a limit is the beginning of the list of a larger one, by a scan of the codes", () => {
  const encode = encoder(DIMENSION, SEED);
  const vectors = new Float32Array(COUNT * DIMENSION);
  for (let i = 0; i < COUNT; i++) vectors.set(encode(DOCUMENTS), i * DIMENSION);
  const project = opened();
  appendAll(project, DIMENSION, vectors);
  buildGraph(project, DIMENSION);
  setScope(project, "all", DIMENSION, upTo(COUNT));
  for (const kind of [DOCUMENTS, QUESTIONS]) {
    for (let i = 0; i < QUERIES; i++) {
      const query = encode(kind);
      const search = (limit: number) =>
        testing.searchRaw(project, "all", query, DIMENSION, limit, -1, "scan");
      const { plan, ordinals } = search(LARGEST);
      expect(plan).toBe("scan");
      for (const limit of LIMITS) expect(search(limit).ordinals).toEqual(ordinals.slice(0, limit));
    }
  }
  native.dropProject(project);
});
