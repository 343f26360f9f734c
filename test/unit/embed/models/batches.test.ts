import { expect, test } from "bun:test";
import { batchesOf } from "../../../../src/embed/models/server/model-server.ts";

const texts = (lengths: readonly number[]) =>
  lengths.map((length) => ({ ids: Array.from({ length }, () => 1), types: [] }));
const lengthsOf = (lengths: readonly number[]) =>
  batchesOf(texts(lengths)).map((places) => places.map((place) => lengths[place]));

test("texts are computed with others of about their length, and no batch takes more than a bounded memory", () => {
  expect(lengthsOf([100, 10, 95, 9, 512, 50])).toEqual([[9, 10], [50], [95, 100], [512]]);
  expect(lengthsOf(Array.from({ length: 9 }, () => 512)).map((batch) => batch.length)).toEqual([
    4, 4, 1,
  ]);
  expect(lengthsOf(Array.from({ length: 70 }, () => 12)).map((batch) => batch.length)).toEqual([
    64, 6,
  ]);
  expect(lengthsOf([2_048])).toEqual([[2_048]]);
  expect(lengthsOf([])).toEqual([]);
});
