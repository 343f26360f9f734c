import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { validator } from "../../../src/problem/validate.ts";
import { isDateTime } from "../../../src/shared/formats.ts";

test("lengths count characters as JSON Schema does, not UTF-16 units", () => {
  const validate = validator(Type.Object({ name: Type.String({ maxLength: 5 }) }));
  const name = "\u{1f600}".repeat(5);
  expect(validate({ name })).toEqual({ name });
  expect(() => validate({ name: `${name}!` })).toThrow();
});

test.each([
  ["2024-02-29T23:59:59Z", true],
  ["2023-02-29T00:00:00Z", false],
  ["2026-13-01T00:00:00Z", false],
  ["2026-01-01T24:00:00Z", false],
  ["2026-01-01T00:00:00.123+02:00", true],
  ["2026-01-01", false],
  ["0000-06-01T00:00:00Z", false],
  ["0001-01-01T00:00:00Z", true],
  ["0001-01-01T00:00:00+00:01", false],
  ["9999-12-31T23:59:60Z", true],
  ["9999-12-31T23:59:59-00:01", false],
])("%s, of a day that exists and a year of four digits in UTC, is a date-time: %p", (text, is) => {
  expect(isDateTime(text)).toBe(is);
});
