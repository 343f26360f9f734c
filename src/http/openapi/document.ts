import type { TObject, TSchema } from "@sinclair/typebox";
import { CATALOGUE, type Slug } from "../../domain/problem/catalogue.ts";
import { Problem, problemBody } from "../../domain/problem/problem.ts";
import { ProblemBody } from "../../domain/problem/schema.ts";
import { text } from "../../domain/schemas.ts";
import { VERSION } from "../../domain/version.ts";
import { headersOf, queryOf } from "../min-change.ts";
import { credentialOf, type MediaType, type Operation, TAGS } from "../operation.ts";
import { PROBLEM_TYPE } from "../respond.ts";
import { EXAMPLE_REQUEST_ID, openApiComponents } from "./components.ts";
import { type Json, plainSchema, withNamedSchemas } from "./json-schema.ts";

/** Problems of every operation. */
const COMMON: readonly Slug[] = ["internal-error", "dependency-unavailable", "overloaded"];
const REQUEST_ID_HEADER = { $ref: "#/components/headers/RequestId" };
const CACHE_CONTROL_HEADER = { $ref: "#/components/headers/CacheControl" };
const NO_SNIFF_HEADER = { $ref: "#/components/headers/NoSniff" };
const REQUEST_ID_PARAMETER = { $ref: "#/components/parameters/RequestId" };
const CONTENT_ENCODING_PARAMETER = { $ref: "#/components/parameters/ContentEncoding" };
const IF_NONE_MATCH_PARAMETER = { $ref: "#/components/parameters/IfNoneMatch" };
const EXAMPLE_BASE_URL = "https://api.example.com";
/** Marks this service's own additions to the API. */
const EXTENSION_KEYWORD = "x-tessera-extension";
const EXTENSION = { [EXTENSION_KEYWORD]: true };
/** The page that browsers get where an operation has one. */
const HTML_PAGE: MediaType = {
  schema: text("The same as a page, for callers who prefer HTML. It needs no credential."),
  example: "<!doctype html>",
};
/** An SPDX expression. */
const LICENSE = "Apache-2.0";

function hasBody(operation: Operation): boolean {
  return operation.body !== undefined || operation.bodies !== undefined;
}

/** The problems of an operation: its own, and those that follow from its inputs. */
function problemsOf(operation: Operation): Slug[] {
  const slugs = new Set<Slug>([...operation.problems, ...COMMON]);
  const bearer = credentialOf(operation) === "bearer";
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
      const {
        description,
        documentedAs,
        examples,
        [EXTENSION_KEYWORD]: extension,
        ...rest
      } = plainSchema(property as TSchema);
      const required = place === "path" || (schema?.required ?? []).includes(name);
      // Queries are validated as strings, but may be documented as numbers.
      const documented = documentedAs ?? rest;
      return {
        name,
        in: place,
        required,
        ...(description ? { description } : {}),
        ...(extension === true ? EXTENSION : {}),
        schema: documented,
        ...(Array.isArray(examples) ? { example: examples[0] } : {}),
      };
    });
  return [
    ...list("path", operation.params),
    ...list("query", queryOf(operation)),
    ...list("header", operation.headers),
    ...(hasBody(operation) ? [CONTENT_ENCODING_PARAMETER] : []),
    ...(operation.conditional ? [IF_NONE_MATCH_PARAMETER] : []),
    REQUEST_ID_PARAMETER,
  ];
}

function mediaOf(media: MediaType): Json {
  const example = media.example === undefined ? {} : { example: media.example };
  return { schema: plainSchema(media.schema), ...example };
}

function requestBodyOf(operation: Operation): Json | undefined {
  const { body, documentedBody, bodyExample: example, bodyOptional } = operation;
  const json = body && { "application/json": { schema: documentedBody ?? body, example } };
  const bodies = operation.bodies ?? json;
  if (bodies === undefined) return undefined;
  const content = Object.entries(bodies).map(([type, media]) => [type, mediaOf(media)]);
  return { required: bodyOptional !== true, content: Object.fromEntries(content) };
}

function isRetryable(slug: Slug): boolean {
  return slug === "idempotency-conflict" || "retryAfterSeconds" in CATALOGUE[slug];
}

/** Absent without a limit, and where no credential was checked. */
const RATE_LIMIT_HEADERS = {
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

function problemHeaders(slugs: readonly Slug[]): Json {
  const headers: Json = {
    "X-Request-Id": REQUEST_ID_HEADER,
    Vary: { $ref: "#/components/headers/Vary" },
    "X-Content-Type-Options": NO_SNIFF_HEADER,
    "Cache-Control": CACHE_CONTROL_HEADER,
    ...RATE_LIMIT_HEADERS,
  };
  if (slugs.includes("unauthorized")) {
    headers["WWW-Authenticate"] = { $ref: "#/components/headers/WwwAuthenticate" };
  }
  if (slugs.includes("method-not-allowed")) {
    headers["Allow"] = { $ref: "#/components/headers/Allow" };
  }
  if (slugs.includes("unsupported-media-type")) {
    headers["Accept"] = { $ref: "#/components/headers/Accept" };
    headers["Accept-Encoding"] = { $ref: "#/components/headers/AcceptEncoding" };
  }
  if (slugs.some(isRetryable)) {
    headers["Retry-After"] = { $ref: "#/components/headers/RetryAfter" };
  }
  return headers;
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
  const responses: Json = {};
  for (const [status, slugs] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: slugs.map((slug) => `${CATALOGUE[slug].title} (\`${slug}\`).`).join(" "),
      headers: problemHeaders(slugs),
      content: {
        [PROBLEM_TYPE]: { schema, examples: problemExamples(operation, slugs) },
      },
    };
  }
  return responses;
}

function successHeaders(operation: Operation): Json {
  const headers: Json = {
    "X-Request-Id": REQUEST_ID_HEADER,
    Vary: { $ref: "#/components/headers/Vary" },
    "X-Content-Type-Options": NO_SNIFF_HEADER,
    ...RATE_LIMIT_HEADERS,
  };
  if (credentialOf(operation) !== "none") headers["Cache-Control"] = CACHE_CONTROL_HEADER;
  if (operation.conditional) {
    headers["ETag"] = { $ref: "#/components/headers/ETag" };
  }
  for (const [name, header] of Object.entries(headersOf(operation))) {
    const { description, extension } = header;
    headers[name] = { description, schema: { type: "string" }, ...(extension ? EXTENSION : {}) };
  }
  return headers;
}

function successContent({ response, responseExample, page }: Operation): Json {
  const media = response && { schema: response, example: responseExample };
  return {
    ...(media ? { "application/json": mediaOf(media) } : {}),
    ...(page ? { "text/html": mediaOf(HTML_PAGE) } : {}),
  };
}

function successResponses(operation: Operation): Json {
  const headers = successHeaders(operation);
  const { status = 200 } = operation;
  const media = successContent(operation);
  const content = Object.keys(media).length === 0 ? {} : { content: media };
  const responses: Json = {};
  for (const code of operation.mayCreate ? [status, 201] : [status]) {
    const description = code === 201 ? "Created." : "Success.";
    responses[String(code)] = { description, headers, ...content };
  }
  if (operation.conditional) {
    responses["304"] = {
      description: "A tag in If-None-Match is current. The answer has no body.",
      headers,
    };
  }
  for (const [code, meaning] of Object.entries(operation.emptyStatuses ?? {})) {
    responses[code] = { description: meaning, headers };
  }
  return responses;
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
  const needs =
    operation.permission === null ? "" : `Needs the permission \`${operation.permission}\`.`;
  const description = [operation.description, needs].filter(Boolean).join("\n\n");
  const requestBody = requestBodyOf(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.extension ? EXTENSION : {}),
    ...(description === "" ? {} : { description }),
    parameters: parametersOf(operation),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...successResponses(operation), ...problemResponses(operation) },
    security: SECURITY[credentialOf(operation)],
  };
}

function pathsOf(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const methods = { [operation.method.toLowerCase()]: operationObject(operation) };
    paths[operation.path] = { ...paths[operation.path], ...methods };
  }
  return paths;
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
    components: { schemas, ...openApiComponents() },
  };
}
