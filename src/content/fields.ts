import { type Static, Type } from "@sinclair/typebox";
import { count, described, listOf, text } from "../domain/schemas.ts";

export const FieldValue = described("FieldValue", "A value of a field.", {
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
    description: "The value, as a filter compares it.",
  }),
  count: count("Files that have the value."),
});

const Field = described("Field", "A field that filters can compare.", {
  name: text(
    "The field as a filter names it: `path`, `frontmatter.<key>`, or `metadata.<key>` of chunks.",
  ),
  types: listOf(
    Type.Union([Type.Literal("string"), Type.Literal("number"), Type.Literal("boolean")]),
    "The types of its values.",
  ),
  files: count("Files that have a value of the field."),
  distinct: count("Different values."),
  values: listOf(
    FieldValue,
    "The values that the most files have, at most 20. Values of more than 256 characters are left out.",
  ),
});

export const Fields = Type.Object(
  {
    fields: listOf(
      Field,
      "The path, then the fields that the most files have, at most 200 together.",
    ),
  },
  {
    title: "Fields",
    description: "The fields that filters can compare in an environment or a release.",
  },
);
export type Fields = Static<typeof Fields>;
