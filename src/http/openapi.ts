import type { TObject, TSchema } from "@sinclair/typebox";
import { CATALOGUE, type Slug } from "../problem/catalogue.ts";
import { ProblemBody } from "../problem/problem.ts";
import type { MediaType, Operation } from "./operation.ts";

type Json = Record<string, unknown>;

/** Problems that any operation may answer with. */
const COMMON: readonly Slug[] = ["internal-error", "dependency-unavailable", "overloaded"];
const REQUEST_ID_HEADER = {
  description: "Identifies the request; a problem's instance names the same id.",
  schema: { type: "string" },
};

/** A TypeBox schema without its symbols: plain JSON Schema 2020-12, as OpenAPI 3.1 wants it. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
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
      const { description, ...rest } = plain(property as TSchema);
      const required = place === "path" || (schema?.required ?? []).includes(name);
      return { name, in: place, required, ...(description ? { description } : {}), schema: rest };
    });
  return [
    ...list("path", operation.params),
    ...list("query", operation.query),
    ...list("header", operation.headers),
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

function problemHeaders(slugs: readonly Slug[]): Json {
  const headers: Json = { "X-Request-Id": REQUEST_ID_HEADER };
  if (slugs.includes("unauthorized")) {
    headers["WWW-Authenticate"] = {
      description: "The schemes that the service takes.",
      schema: { type: "string" },
    };
  }
  const retries = (slug: Slug) =>
    slug === "idempotency-conflict" || "retryAfterSeconds" in CATALOGUE[slug];
  if (slugs.some(retries)) {
    headers["Retry-After"] = {
      description: "Seconds after which a retry may succeed; only where one may.",
      schema: { type: "integer", minimum: 0 },
    };
  }
  return headers;
}

function problemResponses(operation: Operation): Json {
  const byStatus = new Map<number, Slug[]>();
  for (const slug of problemsOf(operation)) {
    const { status } = CATALOGUE[slug];
    byStatus.set(status, [...(byStatus.get(status) ?? []), slug]);
  }
  const own = operation.kind === "raw" ? operation.problemSchema : undefined;
  const schema = own ? plain(own) : { $ref: "#/components/schemas/Problem" };
  const responses: Json = {};
  for (const [status, slugs] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: slugs.map((slug) => `${CATALOGUE[slug].title} (\`${slug}\`).`).join(" "),
      headers: problemHeaders(slugs),
      content: { "application/problem+json": { schema } },
    };
  }
  return responses;
}

function successResponses(operation: Operation): Json {
  const headers: Json = { "X-Request-Id": REQUEST_ID_HEADER };
  for (const [name, description] of Object.entries(operation.responseHeaders ?? {})) {
    headers[name] = { description, schema: { type: "string" } };
  }
  const media: MediaType = { schema: operation.response, example: operation.responseExample };
  const responses: Json = {
    [String(operation.status ?? 200)]: {
      description: "Success.",
      headers,
      content: { "application/json": mediaOf(media) },
    },
  };
  if (operation.conditional) {
    responses["304"] = { description: "What If-None-Match names is still current.", headers };
  }
  return responses;
}

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
    security: bearer ? [{ bearerAuth: [] }, { apiKeyAuth: [] }] : [],
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

/** Components that every operation refers to. */
export function openApiComponents(): Json {
  return {
    schemas: { Problem: plain(ProblemBody) },
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
    },
  };
}
