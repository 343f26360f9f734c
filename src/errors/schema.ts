import { Type } from "@sinclair/typebox";

export const ErrorTypeParams = Type.Object({
  slug: Type.String({ description: "The error type's slug, as in a problem's `slug`." }),
});

const Solution = Type.Object(
  {
    message: Type.String({ description: "The way out in one sentence." }),
    steps: Type.Array(Type.String(), { description: "What to do, in order." }),
    example: Type.Optional(Type.String({ description: "What it looks like." })),
    tips: Type.Optional(Type.Array(Type.String(), { description: "Good to know besides." })),
    relatedErrors: Type.Optional(
      Type.Array(Type.String(), { description: "Slugs of error types that are easily confused." }),
    ),
  },
  { description: "How to deal with the error." },
);

export const ErrorTypeBody = Type.Object(
  {
    slug: Type.String({ description: "The stable name of the error type." }),
    title: Type.String({ description: "A short summary." }),
    status: Type.Number({ description: "The HTTP status that it comes with." }),
    category: Type.String({ description: "What kind of error it is." }),
    suggestion: Type.Optional(Type.String({ description: "What to do about it." })),
    solution: Type.Optional(Solution),
    docs: Type.Optional(
      Type.String({ format: "uri", description: "Where the API is documented." }),
    ),
  },
  { description: "An error type and how to deal with it." },
);
