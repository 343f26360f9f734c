import type { Static } from "@sinclair/typebox";
import { conditionalText } from "../../http/conditional.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { TEXT_PAGE_HEADERS } from "../../http/static/text-page.ts";
import { type ErrorType, errorType } from "../../problem/catalogue.ts";
import { Problem } from "../../problem/problem.ts";
import { errorPage } from "./page.ts";
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

/** Throws `error-type-not-found`. */
function knownType(slug: string): ErrorType {
  const type = errorType(slug);
  if (type === undefined) throw new Problem("error-type-not-found");
  return type;
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
      description:
        "Callers who prefer `text/html` to JSON, as browsers do, get a page that needs no credential.",
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
      page({ request, basePath, params: { slug } }) {
        const page = errorPage(slug, knownType(slug), basePath);
        return conditionalText(request, page, TEXT_PAGE_HEADERS);
      },
      handle: ({ params: { slug } }) => bodyOf(slug, knownType(slug), baseUrl),
    }),
  ];
}
