import { type Static, Type } from "@sinclair/typebox";
import { type ErrorType, errorType } from "../domain/problem/catalogue.ts";
import { Problem } from "../domain/problem/problem.ts";
import { described, listOf, number, text } from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { conditionalText } from "../http/respond.ts";
import { TEXT_PAGE_HEADERS, textPage } from "../http/static/text-page.ts";

const escaped = Bun.escapeHTML;

/** A heading and its content; empty without content. */
function section(heading: string, content: string): string {
  return content === "" ? "" : `<h2>${heading}</h2>\n${content}\n`;
}

function list(tag: "ol" | "ul", items: readonly string[] = []): string {
  if (items.length === 0) return "";
  return `<${tag}>${items.map((item) => `<li>${item}</li>`).join("")}</${tag}>`;
}

/** An error type as an HTML page, with the text of the catalogue. `base` is the path of the service. */
function errorPage(slug: string, type: ErrorType, base: string): string {
  const { title, status, category, detail, suggestion, steps, tips, example, related } = type;
  // The pages of all types have the same parent path, so a slug alone links to a page.
  const links = related?.map((name) => `<a href="${escaped(name)}">${escaped(name)}</a>`);
  const body = `<main class="frame narrow">
<article>
<h1>${escaped(title)}</h1>
<p class="kind"><code>${escaped(slug)}</code>, status ${status}, category ${category}</p>
<p>${escaped(detail)}</p>
${section("Remedy", `<p>${escaped(suggestion)}</p>\n${list("ol", steps.map(escaped))}`)}
${section("Tips", list("ul", tips?.map(escaped)))}
${section("Example", example === undefined ? "" : `<pre>${escaped(example)}</pre>`)}
${section("Related", list("ul", links))}
</article>
</main>`;
  return textPage(title, base, body);
}

const ErrorTypeParams = Type.Object({
  slug: text("The error type's slug, as in a problem's `slug`.", "project-not-found"),
});

const Solution = described("ErrorSolution", "How to solve the error.", {
  message: text("The solution in one sentence."),
  steps: listOf(Type.String(), "The steps, in order."),
  example: Type.Optional(text("An example.")),
  tips: Type.Optional(listOf(Type.String(), "Further advice.")),
  relatedErrors: Type.Optional(listOf(Type.String(), "Slugs of related error types.")),
});

const ErrorTypeBody = described("ErrorType", "An error type and how to solve it.", {
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
