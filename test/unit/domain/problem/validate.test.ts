import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { isDateTime } from "../../../../src/domain/formats.ts";
import { PROBLEM_MAX_FIELD_ERRORS } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { validator } from "../../../../src/domain/problem/validate.ts";

const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5 }),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  when: Type.Optional(Type.String({ format: "date-time" })),
  kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
  items: Type.Optional(Type.Array(Type.Object({ id: Type.String({ format: "uuid" }) }))),
});
const validate = validator(Body);

function errorsOf(
  value: unknown,
  validate: (value: unknown) => unknown = validator(Body),
): Record<string, string> {
  try {
    validate(value);
    return {};
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return Object.fromEntries((error.options.errors ?? []).map((e) => [e.field, e.message]));
  }
}

describe("validation", () => {
  test("of what is stored names every text that cannot be stored, but not in fields that are ignored", () => {
    const Stored = Type.Object({
      name: Type.String(),
      note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      scopes: Type.Optional(Type.Array(Type.String())),
      config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      sent: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { keptAsSent: true })),
    });
    const value = {
      name: "a\0",
      note: "\udc00b",
      scopes: ["a", "b\ud83d"],
      ignored: "\0",
      config: { ok: 1, list: [{ deep: "\0" }], "bad\0": 1, inner: { "\ud83d": { a: 1 } } },
      sent: { "\0": "\ud83d" },
    };
    expect(errorsOf(value, validator(Stored, { stored: true }))).toEqual({
      name: "contains a NUL character",
      note: "contains an unpaired surrogate",
      "scopes[1]": "contains an unpaired surrogate",
      "config.list[0].deep": "contains a NUL character",
      config: "has a name that contains a NUL character",
      "config.inner": "has a name that contains an unpaired surrogate",
    });
    expect(errorsOf({ ...value, scopes: undefined }, validator(Stored))).toEqual({});
    const good = { name: "🚀", note: null, scopes: ["a"], config: { ü: ["🚀"] } };
    expect(errorsOf(good, validator(Stored, { stored: true }))).toEqual({});
  });

  test("validation names every invalid field once, in dotted and indexed form", () => {
    const errors = errorsOf({
      name: "",
      count: 0,
      when: "yesterday",
      kind: "c",
      items: [{ id: "x" }, {}],
    });
    expect(Object.keys(errors).sort()).toEqual([
      "count",
      "items[0].id",
      "items[1].id",
      "kind",
      "name",
      "when",
    ]);
    expect(errors["items[1].id"]).toBe("is required");
    expect(errors["kind"]).toBe("must be one of a, b");
  });

  test("a value that is not an object is reported as the field body", () => {
    for (const value of [null, 1, "text", [], undefined])
      expect(errorsOf(value)).toHaveProperty("body");
  });

  test("unknown fields are ignored", () => {
    expect(validate({ name: "a", extra: 1 })).toMatchObject({ name: "a" });
  });

  test("null in an optional field counts as absent unless null is a value", () => {
    expect(validate({ name: "a", count: null, note: null })).toEqual({ name: "a", note: null });
    expect(errorsOf({ name: null })).toHaveProperty("name");
  });

  test("lengths count characters as JSON Schema does, not UTF-16 units", () => {
    const faces = "\u{1f600}".repeat(5);
    expect(validate({ name: faces })).toEqual({ name: faces });
    expect(errorsOf({ name: `${faces}!` })).toHaveProperty("name");
    expect(Object.keys(errorsOf({ name: faces, count: 0 }))).toEqual(["count"]);
  });

  test("messages never repeat a rejected value", () => {
    expect(JSON.stringify(errorsOf({ name: "hunter2hunter2" }))).not.toContain("hunter2");
  });

  test("the number of listed fields is bounded", () => {
    const items = Array.from({ length: 500 }, () => ({}));
    expect(Object.keys(errorsOf({ name: "a", items }))).toHaveLength(PROBLEM_MAX_FIELD_ERRORS);
  });
});

describe("date-times", () => {
  test("date-times must exist in the calendar and on the clock", () => {
    for (const good of ["2024-02-29T23:59:59Z", "2026-01-01T00:00:00.123+02:00"]) {
      expect(isDateTime(good)).toBe(true);
    }
    for (const bad of [
      "2023-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-01-01T24:00:00Z",
      "2026-01-01",
    ]) {
      expect(isDateTime(bad)).toBe(false);
    }
  });

  test("date-times have a year of four digits in UTC", () => {
    expect(isDateTime("0001-01-01T00:00:00Z")).toBe(true);
    expect(isDateTime("9999-12-31T23:59:60Z")).toBe(true);
    for (const bad of [
      "0000-06-01T00:00:00Z",
      "0001-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
    ]) {
      expect(isDateTime(bad)).toBe(false);
    }
  });
});
