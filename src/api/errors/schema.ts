import { Type } from "@sinclair/typebox";
import { described, listOf, number, text } from "../../shared/schemas.ts";

export const ErrorTypeParams = Type.Object({
  slug: text("The error type's slug, as in a problem's `slug`.", "project-not-found"),
});

const Solution = described("ErrorSolution", "How to solve the error.", {
  message: text("The solution in one sentence."),
  steps: listOf(Type.String(), "The steps, in order."),
  example: Type.Optional(text("An example.")),
  tips: Type.Optional(listOf(Type.String(), "Further advice.")),
  relatedErrors: Type.Optional(listOf(Type.String(), "Slugs of related error types.")),
});

export const ErrorTypeBody = described("ErrorType", "An error type and how to solve it.", {
  slug: text("The stable name of the error type."),
  title: text("A short summary of the error."),
  status: number("The HTTP status of responses with this error."),
  category: text("The category of the error."),
  suggestion: Type.Optional(text("The remedy.")),
  solution: Type.Optional(Solution),
  docs: Type.Optional(
    Type.String({ format: "uri", description: "The URL of the API documentation." }),
  ),
});
