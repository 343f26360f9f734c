import { expect, test } from "bun:test";
import { assertRelations } from "../../../src/shared/limits.ts";

test("the bounds agree with one another", () => {
  expect(assertRelations).not.toThrow();
});
