import type { TObject, TSchema } from "@sinclair/typebox";
import { CATALOGUE, type Slug } from "../problem/catalogue.ts";
import { Problem, ProblemBody, problemBody } from "../problem/problem.ts";
import type { MediaType, Operation } from "./operation.ts";

type Json = Record<string, unknown>;

/** Problems that any operation may answer with. */
const COMMON: readonly Slug[] = ["internal-error", "dependency-unavailable", "overloaded"];
const REQUEST_ID_HEADER = { $ref: "#/components/headers/RequestId" };
const REQUEST_ID_PARAMETER = { $ref: "#/components/parameters/RequestId" };
const IF_NONE_MATCH_PARAMETER = { $ref: "#/components/parameters/IfNoneMatch" };
/** Shown in examples, where the real ones are not known. */
const EXAMPLE_BASE_URL = "https://api.example.com";
const EXAMPLE_REQUEST_ID = "0b3f9f0e-6c1d-4f0e-9d3a-5a1b7f1c2d3e";

/** Keywords that are meant for our own validation alone. */
function withoutOwnKeywords(name: string, value: unknown): unknown {
  return name === "errorMessage" && typeof value === "string" ? undefined : value;
}

/** A TypeBox schema without its symbols: plain JSON Schema 2020-12, as OpenAPI 3.1 wants it. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema, withoutOwnKeywords)) as Json;
}

/** The problems of an operation: its own, and those that follow from what it takes. */
export function problemsOf(operation: Operation): Slug[] {
  const slugs = new Set<Slug>([...operation.problems, ...COMMON]);
  const bearer = operation.kind === "json" || operation.credential === "bearer";
  if (bearer) slugs.add("unauthorized");
  if (bearer && operation.permission !== null) slugs.add("permission-denied");
  const hasBody = operation.kind === "json" ? operation.body !== undefined : true;
  if (hasBody) {
    for (const slug of [
      "validation-failed",
      "payload-too-large",
      "unsupported-media-type",
    ] as const) {
      slugs.add(slug);
    }
  }
  if (operation.query !== undefined) slugs.add("validation-failed");
  return [...slugs];
}

function parametersOf(operation: Operation): Json[] {
  const list = (place: string, schema: TObject | undefined) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, documentedAs, ...rest } = plain(property as TSchema);
      const required = place === "path" || (schema?.required ?? []).includes(name);
      // Queries are validated as text, while their documentation may speak of numbers.
      const documented = documentedAs ?? rest;
      return {
        name,
        in: place,
        required,
        ...(description ? { description } : {}),
        schema: documented,
      };
    });
  return [
    ...list("path", operation.params),
    ...list("query", operation.query),
    ...list("header", operation.headers),
    ...(operation.conditional ? [IF_NONE_MATCH_PARAMETER] : []),
    REQUEST_ID_PARAMETER,
  ];
}

function mediaOf(media: MediaType): Json {
  const example = media.example === undefined ? {} : { example: media.example };
  return { schema: plain(media.schema), ...example };
}

function requestBodyOf(operation: Operation): Json | undefined {
  if (operation.kind === "raw") {
    const content = Object.entries(operation.bodies).map(([type, media]) => [type, mediaOf(media)]);
    return content.length === 0
      ? undefined
      : { required: operation.bodyRequired, content: Object.fromEntries(content) };
  }
  if (operation.body === undefined) return undefined;
  const media = { schema: operation.body as TSchema, example: operation.bodyExample };
  return { required: true, content: { "application/json": mediaOf(media) } };
}

function isRetryable(slug: Slug): boolean {
  return slug === "idempotency-conflict" || "retryAfterSeconds" in CATALOGUE[slug];
}

function problemHeaders(slugs: readonly Slug[]): Json {
  const headers: Json = {
    "X-Request-Id": REQUEST_ID_HEADER,
    "Cache-Control": { $ref: "#/components/headers/NoStore" },
  };
  if (slugs.includes("unauthorized")) {
    headers["WWW-Authenticate"] = { $ref: "#/components/headers/WwwAuthenticate" };
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

/** One example a problem, as the operation would answer it. */
function problemExamples(operation: Operation, slugs: readonly Slug[]): Json {
  const extend = operation.kind === "raw" ? operation.extendProblem : undefined;
  const examples = slugs.map((slug) => {
    const problem = new Problem(slug);
    const body = problemBody(problem, EXAMPLE_BASE_URL, EXAMPLE_REQUEST_ID);
    return [slug, { summary: CATALOGUE[slug].title, value: { ...body, ...extend?.(problem) } }];
  });
  return Object.fromEntries(examples) as Json;
}

function problemResponses(operation: Operation): Json {
  const byStatus = Map.groupBy(problemsOf(operation), (slug) => CATALOGUE[slug].status);
  const own = operation.kind === "raw" ? operation.problemSchema : undefined;
  const schema = own ? plain(own) : { $ref: "#/components/schemas/Problem" };
  const responses: Json = {};
  for (const [status, slugs] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: slugs.map((slug) => `${CATALOGUE[slug].title} (\`${slug}\`).`).join(" "),
      headers: problemHeaders(slugs),
      content: {
        "application/problem+json": { schema, examples: problemExamples(operation, slugs) },
      },
    };
  }
  return responses;
}

function successHeaders(operation: Operation): Json {
  const headers: Json = { "X-Request-Id": REQUEST_ID_HEADER };
  if (operation.conditional) {
    headers["ETag"] = { $ref: "#/components/headers/ETag" };
    headers["Cache-Control"] = { $ref: "#/components/headers/Revalidate" };
  }
  for (const [name, description] of Object.entries(operation.responseHeaders ?? {})) {
    headers[name] = { description, schema: { type: "string" } };
  }
  return headers;
}

function successResponses(operation: Operation): Json {
  const headers = successHeaders(operation);
  const media: MediaType = { schema: operation.response, example: operation.responseExample };
  const responses: Json = {
    [String(operation.status ?? 200)]: {
      description: operation.status === 201 ? "Created." : "Success.",
      headers,
      content: { "application/json": mediaOf(media) },
    },
  };
  if (operation.conditional) {
    responses["304"] = {
      description: "What If-None-Match names is still current; there is no body.",
      headers,
    };
  }
  return responses;
}

/** What says who calls, each by itself. */
const CALLERS = [{ bearerAuth: [] }, { apiKeyAuth: [] }];

function operationObject(operation: Operation): Json {
  const bearer = operation.kind === "json" || operation.credential === "bearer";
  const needs =
    operation.permission === null ? "" : `Needs the permission \`${operation.permission}\`.`;
  const description = [operation.description, needs].filter(Boolean).join("\n\n");
  const requestBody = requestBodyOf(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(description === "" ? {} : { description }),
    parameters: parametersOf(operation),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...successResponses(operation), ...problemResponses(operation) },
    security: bearer ? CALLERS : [{ webhookSecret: [] }, { webhookSecretInQuery: [] }, ...CALLERS],
  };
}

/** The OpenAPI document's paths, made from the operations themselves. */
export function openApiPaths(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const methods = { [operation.method.toLowerCase()]: operationObject(operation) };
    paths[operation.path] = { ...paths[operation.path], ...methods };
  }
  return paths;
}

const PARAMETERS = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description:
      "The caller's own id for the request. The answer repeats it; anything that does not match the pattern is replaced by a new id.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
    example: EXAMPLE_REQUEST_ID,
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "ETags that the caller has; when one is current the answer is 304 without a body.",
    schema: { type: "string" },
    example: '"3f7c1d2ab45e6f90"',
  },
} as const;

const HEADERS = {
  RequestId: {
    description: "Identifies the request; a problem's `instance` names the same id.",
    required: true,
    schema: { type: "string" },
  },
  NoStore: {
    description: "Problems are never to be stored.",
    required: true,
    schema: { type: "string", const: "no-store" },
  },
  Revalidate: {
    description: "For the caller alone, who asks again before using it once more.",
    required: true,
    schema: { type: "string" },
  },
  ETag: {
    description: "Names this representation, for If-None-Match. Strong: equal tags, equal bytes.",
    required: true,
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
  WwwAuthenticate: {
    description: "The schemes that the service takes.",
    required: true,
    schema: { type: "string" },
  },
  Accept: {
    description: "The content types that the operation takes.",
    schema: { type: "string" },
  },
  AcceptEncoding: {
    description: "The content encoding that the operation takes, when the body had another one.",
    schema: { type: "string" },
  },
  RetryAfter: {
    description: "Seconds after which a retry may succeed; only where one may.",
    schema: { type: "integer", minimum: 0 },
  },
} as const;

/** Components that every operation refers to. */
export function openApiComponents(): Json {
  return {
    schemas: { Problem: plain(ProblemBody) },
    parameters: PARAMETERS,
    headers: HEADERS,
    securitySchemes: {
      bearerAuth: {
        type: "http",
        scheme: "bearer",
        description: "A JWT or an API key.",
      },
      apiKeyAuth: {
        type: "apiKey",
        in: "header",
        name: "X-API-Key",
        description: "An API key of the form tsr_<prefix>_<secret>.",
      },
      webhookSecret: {
        type: "apiKey",
        in: "header",
        name: "X-Service-Webhook-Secret",
        description: "The secret of the webhook.",
      },
      webhookSecretInQuery: {
        type: "apiKey",
        in: "query",
        name: "secret",
        description: "The secret of the webhook, from providers that send no such header.",
      },
    },
  };
}
