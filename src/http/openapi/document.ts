import type { TObject, TSchema } from "@sinclair/typebox";
import { CATALOGUE, type Slug } from "../../domain/problem/catalogue.ts";
import { Problem, problemBody } from "../../domain/problem/problem.ts";
import { ProblemBody } from "../../domain/problem/schema.ts";
import { text } from "../../domain/schemas.ts";
import { VERSION } from "../../domain/version.ts";
import { headersOf, queryOf } from "../min-change.ts";
import { type MediaType, type Operation, TAGS } from "../operation.ts";
import { PROBLEM_TYPE } from "../respond.ts";
import { EXAMPLE_REQUEST_ID, HEADERS, PARAMETERS, SECURITY_SCHEMES } from "./components.ts";
import { type Json, plainSchema, withNamedSchemas } from "./json-schema.ts";

/** Problems of every operation. */
const COMMON: readonly Slug[] = ["internal-error", "dependency-unavailable", "overloaded"];
const EXAMPLE_BASE_URL = "https://api.example.com";
/** Marks this service's own additions to the API. */
const EXTENSION_KEYWORD = "x-tessera-extension";
/** The page that browsers get where an operation has one. */
const HTML_PAGE: MediaType = {
  schema: text("The same as a page, for callers who prefer HTML. It needs no credential."),
  example: "<!doctype html>",
};
/** An SPDX expression. */
const LICENSE = "Apache-2.0";

const headerRef = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
const parameterRef = (name: keyof typeof PARAMETERS) => ({
  $ref: `#/components/parameters/${name}`,
});

function hasBody(operation: Operation): boolean {
  return operation.body !== undefined || operation.bodies !== undefined;
}

/** The problems of an operation: its own, and those that follow from its inputs. */
function problemsOf(operation: Operation): Slug[] {
  const slugs = new Set<Slug>([...operation.problems, ...COMMON]);
  const bearer = operation.credential === undefined;
  if (bearer) slugs.add("unauthorized").add("rate-limited");
  if (bearer && operation.permission !== null) slugs.add("permission-denied");
  if (hasBody(operation)) {
    slugs.add("validation-failed").add("unsupported-media-type");
    slugs.add("request-timeout").add("payload-too-large");
  }
  if (operation.reads !== undefined) slugs.add("index-behind");
  if (queryOf(operation) !== undefined) slugs.add("validation-failed");
  return [...slugs];
}

function parametersOf(operation: Operation): Json[] {
  const list = (place: string, schema: TObject | undefined) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, documentedAs, examples, ...rest } = plainSchema(property as TSchema);
      const { [EXTENSION_KEYWORD]: extension, ...schemaOfQuery } = rest;
      return {
        name,
        in: place,
        required: place === "path" || (schema?.required ?? []).includes(name),
        description,
        [EXTENSION_KEYWORD]: extension,
        // Queries are validated as strings, but may be documented as numbers.
        schema: documentedAs ?? schemaOfQuery,
        example: (examples as unknown[] | undefined)?.[0],
      };
    });
  return [
    ...list("path", operation.params),
    ...list("query", queryOf(operation)),
    ...list("header", operation.headers),
    ...(hasBody(operation) ? [parameterRef("ContentEncoding")] : []),
    ...(operation.conditional ? [parameterRef("IfNoneMatch")] : []),
    parameterRef("RequestId"),
  ];
}

function mediaOf({ schema, example }: MediaType): Json {
  return { schema: plainSchema(schema), example };
}

function requestBodyOf({ body, bodyExample, bodies, bodyOptional }: Operation): Json | undefined {
  const json = body && { "application/json": { schema: body, example: bodyExample } };
  const media: Operation["bodies"] = bodies ?? json;
  if (media === undefined) return undefined;
  const content = Object.entries(media).map(([type, each]) => [type, mediaOf(each)]);
  return { required: bodyOptional !== true, content: Object.fromEntries(content) };
}

function isRetryable(slug: Slug): boolean {
  return slug === "idempotency-conflict" || "retryAfterSeconds" in CATALOGUE[slug];
}

/** The headers of every response. Those of quotas are absent without a limit, and where no credential was checked. */
const COMMON_HEADERS = {
  "X-Request-Id": headerRef("RequestId"),
  Vary: headerRef("Vary"),
  "X-Content-Type-Options": headerRef("NoSniff"),
  RateLimit: headerRef("RateLimit"),
  "RateLimit-Policy": headerRef("RateLimitPolicy"),
};

function problemHeaders(slugs: readonly Slug[]): Json {
  const has = (slug: Slug, headers: Json) => (slugs.includes(slug) ? headers : {});
  return {
    ...COMMON_HEADERS,
    "Cache-Control": headerRef("CacheControl"),
    ...has("unauthorized", { "WWW-Authenticate": headerRef("WwwAuthenticate") }),
    ...has("method-not-allowed", { Allow: headerRef("Allow") }),
    ...has("unsupported-media-type", {
      Accept: headerRef("Accept"),
      "Accept-Encoding": headerRef("AcceptEncoding"),
    }),
    ...(slugs.some(isRetryable) ? { "Retry-After": headerRef("RetryAfter") } : {}),
  };
}

/** One example per problem, as the operation would answer it. */
function problemExamples(operation: Operation, slugs: readonly Slug[]): Json {
  const { extendProblem: extend } = operation;
  const examples = slugs.map((slug) => {
    const problem = new Problem(slug);
    const body = problemBody(problem, EXAMPLE_BASE_URL, EXAMPLE_REQUEST_ID);
    return [slug, { summary: CATALOGUE[slug].title, value: { ...body, ...extend?.(problem) } }];
  });
  return Object.fromEntries(examples) as Json;
}

function problemResponses(operation: Operation): Json {
  const byStatus = Map.groupBy(problemsOf(operation), (slug) => CATALOGUE[slug].status);
  const schema = plainSchema(operation.problemSchema ?? ProblemBody);
  const responses = [...byStatus].map(([status, slugs]) => {
    const description = slugs.map((slug) => `${CATALOGUE[slug].title} (\`${slug}\`).`).join(" ");
    const content = { [PROBLEM_TYPE]: { schema, examples: problemExamples(operation, slugs) } };
    return [status, { description, headers: problemHeaders(slugs), content }];
  });
  return Object.fromEntries(responses);
}

function successHeaders(operation: Operation): Json {
  const own = Object.entries(headersOf(operation)).map(([name, { description, extension }]) => [
    name,
    { description, schema: { type: "string" }, [EXTENSION_KEYWORD]: extension },
  ]);
  return {
    ...COMMON_HEADERS,
    ...(operation.credential === "none" ? {} : { "Cache-Control": headerRef("CacheControl") }),
    ...(operation.conditional ? { ETag: headerRef("ETag") } : {}),
    ...Object.fromEntries(own),
  };
}

function successResponses(operation: Operation): Json {
  const headers = successHeaders(operation);
  const { status = 200, response, responseExample: example, page } = operation;
  const content = {
    ...(response && { "application/json": mediaOf({ schema: response, example }) }),
    ...(page && { "text/html": mediaOf(HTML_PAGE) }),
  };
  const answered = Object.keys(content).length === 0 ? { headers } : { headers, content };
  return {
    [status]: { description: status === 201 ? "Created." : "Success.", ...answered },
    ...(operation.mayCreate && { 201: { description: "Created.", ...answered } }),
    ...(operation.conditional && {
      304: { description: "A tag in If-None-Match is current. The answer has no body.", headers },
    }),
    ...Object.fromEntries(
      Object.entries(operation.emptyStatuses ?? {}).map(([code, description]) => [
        code,
        { description, headers },
      ]),
    ),
  };
}

/** The ways to authenticate a caller. Each one suffices. */
const CALLERS = [{ bearerAuth: [] }, { apiKeyAuth: [] }];
/** By the credential that an operation takes. */
const SECURITY = {
  bearer: CALLERS,
  own: [{ webhookSecret: [] }, { webhookSecretInQuery: [] }, ...CALLERS],
  none: [],
};

function operationObject(operation: Operation): Json {
  const { permission } = operation;
  const needs = permission === null ? "" : `Needs the permission \`${permission}\`.`;
  const description = [operation.description, needs].filter(Boolean).join("\n\n");
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    [EXTENSION_KEYWORD]: operation.extension,
    description: description === "" ? undefined : description,
    parameters: parametersOf(operation),
    requestBody: requestBodyOf(operation),
    responses: { ...successResponses(operation), ...problemResponses(operation) },
    security: SECURITY[operation.credential ?? "bearer"],
  };
}

function pathsOf(operations: readonly Operation[]): Json {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const methods = (ofPath: readonly Operation[]) =>
    Object.fromEntries(ofPath.map((each) => [each.method.toLowerCase(), operationObject(each)]));
  return Object.fromEntries([...byPath].map(([path, ofPath]) => [path, methods(ofPath)]));
}

/** The OpenAPI document of the operations, as served at `baseUrl`. */
export function openApiDocument(operations: readonly Operation[], baseUrl: string) {
  const info = {
    title: "Tessera",
    version: VERSION,
    // Each installation has an operator of its own, whom its users ask.
    contact: { name: "The operator of this service", url: baseUrl },
    license: { name: LICENSE, identifier: LICENSE },
    description:
      "Vector and knowledge search over project files, and the platform around it. " +
      `Errors are \`${PROBLEM_TYPE}\` documents; each type is described at GET /errors/{slug}.`,
  };
  const used = new Set<string>(operations.map((operation) => operation.tag));
  const tags = Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
  const { value: paths, schemas } = withNamedSchemas(pathsOf(operations));
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: baseUrl }],
    tags,
    paths,
    components: {
      schemas,
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}
