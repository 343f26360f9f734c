import { expect, test } from "bun:test";
import { assertRelations } from "../../../src/shared/limits.ts";

test("no two bounds contradict each other", () => {
  expect(assertRelations).not.toThrow();
});
