import { expect, test } from "bun:test";
import { entityTag } from "../../../src/http/conditional.ts";

test("entity tags differ for texts that differ", () => {
  const tags = new Set(Array.from({ length: 10_000 }, (_, i) => entityTag(`{"seq":${i}}`)));
  expect(tags.size).toBe(10_000);
  const long = "x".repeat(1_000_000);
  expect(entityTag(`${long}a`)).not.toBe(entityTag(`${long}b`));
});
