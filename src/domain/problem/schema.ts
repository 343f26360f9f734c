/** In a module of its own, because threads that throw problems do not load the library of schemas. */
import { type Static, Type } from "@sinclair/typebox";
import { described, flag, listOf, nullableText, oneOf, text } from "../schemas.ts";

export const FieldError = described("FieldError", "One invalid field.", {
  field: text("The field in dotted and indexed form, e.g. `vector[3]`."),
  message: text("The fault of the field."),
  code: Type.Optional(text("A stable code for the fault.")),
});
export type FieldError = Static<typeof FieldError>;

export const Idempotency = Type.Object(
  {
    state: oneOf(
      ["in_progress", "payload_mismatch", "outcome_unknown"],
      "The state of the request that this one repeats.",
    ),
    operation: Type.String({ minLength: 1, description: "The operation that was repeated." }),
    retryable: flag("True when the same request may succeed later."),
    retry_after_seconds: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: "Seconds to wait before a retry; null when there is nothing to retry.",
    }),
    expires_at: nullableText("When the earlier request expires; null when never."),
    recovery: Type.Optional(
      Type.Object(
        {
          available: flag("True when the outcome can be looked up."),
          description: text("How to find the outcome."),
          resource_url: Type.Optional(text("Where to read the outcome.")),
        },
        { description: "How to find the outcome of the earlier request." },
      ),
    ),
  },
  {
    title: "Idempotency",
    description: "Why a repeated request could not be answered, and whether to retry it.",
  },
);
export type Idempotency = Static<typeof Idempotency>;

const CATEGORIES = [
  "AUTH",
  "RESOURCE",
  "VALIDATION",
  "DATABASE",
  "SUBSCRIPTION",
  "INTEGRATION",
  "INTERNAL",
] as const;

/** The body of every error response, according to RFC 9457. */
export const ProblemBody = described("Problem", "An error according to RFC 9457.", {
  type: Type.String({
    format: "uri-reference",
    description: "Identifies the problem type. A URL of its description.",
  }),
  title: text("A short summary of the problem type."),
  status: Type.Integer({ minimum: 100, maximum: 599, description: "The HTTP status." }),
  code: Type.Optional(text("The slug as a stable machine-readable code, in UPPER_SNAKE.")),
  detail: Type.Optional(text("The cause of this occurrence.")),
  instance: Type.Optional(
    Type.String({
      format: "uri-reference",
      description: "Identifies this occurrence: `urn:request:` and the request's id.",
    }),
  ),
  slug: Type.Optional(text("The problem type's slug, for GET /errors/{slug}.")),
  category: Type.Optional(oneOf(CATEGORIES, "The kind of problem.")),
  suggestion: Type.Optional(text("The remedy.")),
  errors: Type.Optional(listOf(FieldError, "The invalid fields.")),
  idempotency: Type.Optional(Idempotency),
});
export type ProblemBody = Static<typeof ProblemBody>;
