import { Type } from "@sinclair/typebox";
import { text } from "../../shared/schemas.ts";

export const ErrorTypeParams = Type.Object({
  slug: Type.String({
    description: "The error type's slug, as in a problem's `slug`.",
    examples: ["project-not-found"],
  }),
});

const Solution = Type.Object(
  {
    message: text("The solution in one sentence."),
    steps: Type.Array(Type.String(), { description: "The steps, in order." }),
    example: Type.Optional(text("An example.")),
    tips: Type.Optional(Type.Array(Type.String(), { description: "Further advice." })),
    relatedErrors: Type.Optional(
      Type.Array(Type.String(), { description: "Slugs of related error types." }),
    ),
  },
  { title: "ErrorSolution", description: "How to solve the error." },
);

export const ErrorTypeBody = Type.Object(
  {
    slug: text("The stable name of the error type."),
    title: text("A short summary of the error."),
    status: Type.Number({ description: "The HTTP status of responses with this error." }),
    category: text("The category of the error."),
    suggestion: Type.Optional(text("What to do about it.")),
    solution: Type.Optional(Solution),
    docs: Type.Optional(
      Type.String({ format: "uri", description: "The URL of the API documentation." }),
    ),
  },
  { title: "ErrorType", description: "An error type and how to solve it." },
);
