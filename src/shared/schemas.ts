import { type TSchema, Type } from "@sinclair/typebox";

/** Schemas that several features share. */

/** How paths name a project. */
export const project_reference = Type.String({
  description: "The project's id or slug.",
  examples: ["demo"],
});

/** Text without NUL, which PostgreSQL cannot store. */
export const storable = {
  pattern: "^[^\\u0000]*$",
  errorMessage: "must be text without NUL characters",
};

/** The parameters of a path that names nothing but a project. */
export const ProjectParams = Type.Object({ project_reference });

/** @param description of a value that is documented */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const text = (description: string) => Type.String({ description });

export const nullableText = (description: string) => nullable(Type.String(), description);

export const uuid = (description: string) => Type.String({ format: "uuid", description });

export const dateTime = (description: string) => Type.String({ format: "date-time", description });

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

/** An entry of the frontmatter of a file. */
export const FrontmatterEntry = Type.Object(
  {
    key: Type.String({ description: "The entry's key." }),
    value: Type.String({ description: "The entry's value as text." }),
  },
  { title: "FrontmatterEntry" },
);
