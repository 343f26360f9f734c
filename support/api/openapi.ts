import type { ValidateFunction } from "ajv";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { pageHeaders } from "../../src/http/static/page-headers.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, whose shape a validator checks
export type Json = any;

export interface Exchange {
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  /** The parsed JSON body of the request, if it has one. */
  readonly sent?: unknown;
  readonly status: number;
  readonly headers: Headers;
  /** The body of the response. */
  readonly text: string;
  /** True if the database may have been lost after a change, so that nobody knows its token. */
  readonly mayLackDatabase?: boolean;
}

/** Headers of HTTP itself, which the document need not mention. */
const TRANSPORT_HEADERS = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/** Headers by which browsers restrict what a page may do. They mean nothing to clients of the API. */
const PAGE_HEADERS = new Set(Object.keys(pageHeaders()));

/** A schema that rejects properties which the document does not name. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema.allOf)) return { ...schema, unevaluatedProperties: false };
  const copy: Json = {};
  for (const [name, value] of Object.entries(schema)) {
    copy[name] = name === "const" || name === "enum" || name === "example" ? value : closed(value);
  }
  const names = typeof schema.properties === "object" ? Object.keys(schema.properties) : [];
  if (schema.type === "object" && names.length > 0 && !("additionalProperties" in schema)) {
    copy.additionalProperties = false;
  }
  return copy;
}

function pointer(...parts: readonly string[]): string {
  const escaped = parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"));
  return `#/${escaped.map(encodeURIComponent).join("/")}`;
}

/** Compares the behaviour of the service with its OpenAPI document. */
export class Contract {
  readonly #answers: Ajv2020;
  readonly #requests: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #routes: Array<{ path: string; matcher: RegExp }>;

  constructor(readonly document: Json) {
    this.#answers = validatorOf(closed(document));
    this.#requests = validatorOf(document);
    this.#routes = Object.keys(document.paths).map((path) => ({
      path,
      matcher: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}/?$`),
    }));
  }

  /** Throws an error with all differences if the document does not describe the exchange. */
  check(exchange: Exchange): void {
    const faults = this.#faults(exchange);
    if (faults.length === 0) return;
    const { method, path, status, text } = exchange;
    const shown = text.length > 2_000 ? `${text.slice(0, 2_000)}...` : text;
    throw new Error(
      `${method} ${path} answered ${status} against the document:\n${faults.join("\n")}\n${shown}`,
    );
  }

  /** Faults of the examples of an operation's bodies, including problems. */
  exampleFaults(operation: Json): string[] {
    const bodies = [operation.requestBody, ...Object.values<Json>(operation.responses)];
    const media = bodies.flatMap((body) => Object.values<Json>(body?.content ?? {}));
    return media.flatMap(({ schema, example, examples = {} }) => {
      const values = Object.values<Json>(examples).map(({ value }) => value);
      if (example !== undefined) values.push(example);
      const inside = JSON.stringify(closed(schema)).replaceAll('"$ref":"#', '"$ref":"document#');
      // Operations have many schemas in common, such as that of problems.
      const validate = this.#validators.get(inside) ?? this.#answers.compile(JSON.parse(inside));
      this.#validators.set(inside, validate);
      return values.flatMap((value) =>
        (validate(value) ? [] : (validate.errors ?? [])).map(
          ({ instancePath, message, params }) =>
            `${instancePath} ${message} ${JSON.stringify(params)}`,
        ),
      );
    });
  }

  #faults(exchange: Exchange): string[] {
    const { pathname } = new URL(exchange.path, "http://localhost");
    const path = this.#routes.find(({ matcher }) => matcher.test(pathname))?.path;
    const method = exchange.method.toLowerCase();
    if (path === undefined || this.document.paths[path][method] === undefined) {
      return this.#unrouted(exchange);
    }
    const responses = this.document.paths[path][method].responses;
    const response = responses[String(exchange.status)];
    if (response === undefined) return [`status ${exchange.status} is not documented`];
    const place = ["paths", path, method];
    return [
      ...this.#headerFaults(exchange, response.headers ?? {}),
      ...this.#bodyFaults(exchange, response, [...place, "responses", String(exchange.status)]),
      ...(exchange.status < 300 ? this.#requestFaults(exchange, place) : []),
    ];
  }

  /** A request that matches no operation must be answered with a problem. */
  #unrouted({ status, headers, text }: Exchange): string[] {
    if (status < 400) return [];
    if (!headers.get("content-type")?.startsWith("application/problem+json")) {
      return ["an error outside the documented operations is not a problem document"];
    }
    return this.#valid(this.#answers, pointer("components", "schemas", "Problem"), text, "body");
  }

  #bodyFaults(exchange: Exchange, response: Json, place: string[]): string[] {
    const type = exchange.headers.get("content-type")?.split(";")[0]?.trim();
    if (response.content === undefined) {
      return exchange.text === "" ? [] : ["a body is not documented"];
    }
    if (exchange.method === "HEAD") return [];
    if (type === undefined || response.content[type] === undefined) {
      return [`content type ${type} is not documented`];
    }
    // Compiled once for all operations with the same answer, such as problems.
    const named = response.content[type].schema.$ref;
    const schema = named ?? pointer(...place, "content", type, "schema");
    const json = /[/+]json$/.test(type) ? exchange.text : JSON.stringify(exchange.text);
    return this.#valid(this.#answers, schema, json, "body");
  }

  #headerFaults({ headers: given, mayLackDatabase }: Exchange, documented: Json): string[] {
    const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const isPage = given.get("content-type")?.startsWith("text/html") === true;
    const faults = [...given.keys()]
      .filter((name) => !names.has(name) && !TRANSPORT_HEADERS.has(name))
      .filter((name) => !(isPage && PAGE_HEADERS.has(name)))
      .map((name) => `header ${name} is not documented`);
    for (const [name, reference] of Object.entries<Json>(documented)) {
      const header = this.resolved(reference);
      const value = given.get(name);
      if (value === null) {
        const isDue = header.required === true || (name === "X-Change" && !mayLackDatabase);
        if (isDue) faults.push(`header ${name} is missing`);
        continue;
      }
      const parsed = header.schema.type === "integer" ? Number(value) : value;
      if (!this.#requests.validate(header.schema, parsed)) {
        faults.push(`header ${name} has a value that the document does not allow`);
      }
    }
    return faults;
  }

  /** An accepted request must be one that the document allows. */
  #requestFaults({ sent, path: requested }: Exchange, place: string[]): string[] {
    const operation = this.document.paths[place[1] as string][place[2] as string];
    const query = new URL(requested, "http://localhost").searchParams;
    const documented = new Set(
      (operation.parameters ?? [])
        .map((parameter: Json) => this.resolved(parameter))
        .filter((parameter: Json) => parameter.in === "query")
        .map((parameter: Json) => parameter.name),
    );
    const faults = [...query.keys()]
      .filter((name) => !documented.has(name))
      .map((name) => `query parameter ${name} is not documented`);
    if (sent === undefined || operation.requestBody?.content["application/json"] === undefined) {
      return faults;
    }
    const schema = pointer(...place, "requestBody", "content", "application/json", "schema");
    return [...faults, ...this.#valid(this.#requests, schema, JSON.stringify(sent), "request")];
  }

  /** What a reference within the document names; any other value itself. */
  resolved(value: Json): Json {
    if (value.$ref === undefined) return value;
    const parts = (value.$ref as string).slice(2).split("/");
    return parts.reduce((at: Json, part) => at[part], this.document);
  }

  #valid(ajv: Ajv2020, schema: string, text: string, subject: string): string[] {
    const key = `${ajv === this.#answers}${schema}`;
    let validate = this.#validators.get(key);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `document${schema}` });
      this.#validators.set(key, validate);
    }
    if (validate(JSON.parse(text))) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${subject}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }
}

function validatorOf(document: Json): Ajv2020 {
  // Keywords of OpenAPI are unknown to JSON Schema, so unknown keywords are accepted.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats(ajv);
  return ajv.addSchema(document, "document");
}
