import { type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** Schemas that several features share. */

/** Text without NUL, which PostgreSQL cannot store. */
export const storable = {
  pattern: "^[^\\u0000]*$",
  errorMessage: "must be text without NUL characters",
};

/** @param description of a value that is documented */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

const examples = (example?: string) => (example === undefined ? {} : { examples: [example] });

export const text = (description: string, example?: string) =>
  Type.String({ description, ...examples(example) });

export const nullableText = (description: string) => nullable(Type.String(), description);

export const uuid = (description: string, example?: string) =>
  Type.String({ format: "uuid", description, ...examples(example) });

export const dateTime = (description: string, example?: string) =>
  Type.String({ format: "date-time", description, ...examples(example) });

export const flag = (description: string) => Type.Boolean({ description });

export const integer = (description: string) => Type.Integer({ description });

export const number = (description: string) => Type.Number({ description });

/** An object of anything. */
export const anyObject = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });

export const listOf = <T extends TSchema>(item: T, description: string) =>
  Type.Array(item, { description });

export const titled = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { title });

export const described = <P extends TProperties>(
  title: string,
  description: string,
  properties: P,
) => Type.Object(properties, { title, description });

/** One of some words. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
  errorMessage?: string,
) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description, ...(errorMessage === undefined ? {} : { errorMessage }) },
  );

/** A number of things. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The reference of a project in paths. */
export const project_reference = text("The project's id, or else its slug.", "demo");

/** The parameters of a path whose only parameter is a project. */
export const ProjectParams = Type.Object({ project_reference });

/** An entry of the frontmatter of a file. */
export const FrontmatterEntry = titled("FrontmatterEntry", {
  key: text("The entry's key."),
  value: text("The entry's value as text."),
});
