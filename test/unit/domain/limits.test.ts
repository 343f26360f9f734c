import { expect, test } from "bun:test";
import { assertRelations } from "../../../src/domain/limits.ts";

test("no two bounds contradict each other", () => {
  expect(assertRelations).not.toThrow();
});
