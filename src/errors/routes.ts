import type { Static } from "@sinclair/typebox";
import { type Operation, operation } from "../http/operation.ts";
import { type ErrorType, errorType } from "../problem/catalogue.ts";
import { Problem } from "../problem/problem.ts";
import { ErrorTypeBody, ErrorTypeParams } from "./schema.ts";

function bodyOf(slug: string, type: ErrorType, baseUrl: string): Static<typeof ErrorTypeBody> {
  return {
    slug,
    title: type.title,
    status: type.status,
    category: type.category,
    suggestion: type.suggestion,
    solution: {
      message: type.suggestion,
      steps: [...type.steps],
      ...(type.example === undefined ? {} : { example: type.example }),
      ...(type.tips === undefined ? {} : { tips: [...type.tips] }),
      ...(type.related === undefined ? {} : { relatedErrors: [...type.related] }),
    },
    docs: `${baseUrl}/docs`,
  };
}

/** GET /errors/{slug}, which a problem's `type` links to. */
export function errorOperations({ baseUrl }: { baseUrl: string }): Operation[] {
  return [
    operation({
      id: "getErrorType",
      method: "GET",
      path: "/errors/{slug}",
      tag: "Errors",
      summary: "Read an error type by its slug",
      permission: null,
      params: ErrorTypeParams,
      response: ErrorTypeBody,
      responseExample: bodyOf(
        "project-not-found",
        errorType("project-not-found") as ErrorType,
        "https://api.example.com",
      ),
      conditional: true,
      problems: ["error-type-not-found"],
      handle({ params }) {
        const type = errorType(params.slug);
        if (type === undefined) throw new Problem("error-type-not-found");
        return bodyOf(params.slug, type, baseUrl);
      },
    }),
  ];
}
