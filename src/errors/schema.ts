import { Type } from "@sinclair/typebox";

export const ErrorTypeParams = Type.Object({
  slug: Type.String({ description: "The error type's slug, as in a problem's `slug`." }),
});

export const ErrorTypeBody = Type.Object(
  {
    slug: Type.String(),
    title: Type.String(),
    status: Type.Number(),
    category: Type.String(),
    suggestion: Type.Optional(Type.String()),
    solution: Type.Optional(
      Type.Object({
        message: Type.String(),
        steps: Type.Array(Type.String()),
        example: Type.Optional(Type.String()),
        tips: Type.Optional(Type.Array(Type.String())),
        relatedErrors: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    docs: Type.Optional(Type.String({ format: "uri" })),
  },
  { description: "An error type and how to deal with it." },
);
