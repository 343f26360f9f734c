import { describe, expect, test } from "bun:test";
import { withNamedSchemas } from "../../../../src/http/openapi/json-schema.ts";

const text = { type: "string", description: "A text." };
const inner = { title: "Inner", type: "object", properties: { title: text, default: text } };

describe("named schemas", () => {
  test("a schema with a title becomes a component, also within another one", () => {
    const outer = { title: "Outer", type: "array", items: inner };
    const { value, schemas } = withNamedSchemas({ a: { schema: outer }, b: { schema: inner } });
    expect(value).toEqual({
      a: { schema: { $ref: "#/components/schemas/Outer" } },
      b: { schema: { $ref: "#/components/schemas/Inner" } },
    });
    expect(schemas).toEqual({
      Inner: { type: "object", properties: { title: text, default: text } },
      Outer: { type: "array", items: { $ref: "#/components/schemas/Inner" } },
    });
  });

  test("examples stay as they are, even if they look like schemas", () => {
    const media = { example: inner, examples: { one: { value: inner } } };
    expect(withNamedSchemas(media)).toEqual({ value: media, schemas: {} });
  });

  test("two different schemas cannot have the same title", () => {
    const other = { ...inner, description: "Another one." };
    expect(() => withNamedSchemas({ a: inner, b: other })).toThrow("Inner");
  });

  test("a default is stated in the description", () => {
    const limit = { type: "integer", description: "The page size.", default: 10 };
    expect(withNamedSchemas({ limit }).value).toEqual({
      limit: { type: "integer", description: "The page size. Default: 10." },
    });
  });
});
