import fc from "fast-check";
import type { Json } from "../../support/api/openapi.ts";
import { anything, nastyText, Values } from "./schemas.ts";
import type { Target } from "./target.ts";

/** One in so many parts of a hostile value is replaced by anything. */
const HOSTILITY = 8;
/** So many fields of an example are replaced at most. */
const FIELDS_MAX = 2;
const CUT_MAX = 400;
const VECTOR_BYTES = 768 * 4;
const JSON_TYPE = "application/json";

/** A request, as it is sent. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly caller: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** An operation of the document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Json[];
  /** Schemas and examples by content type. */
  readonly content: Readonly<Record<string, Json>>;
}

export function operationsOf(document: Json): Operation[] {
  const resolved = (parameter: Json) =>
    parameter.$ref === undefined
      ? parameter
      : document.components.parameters[parameter.$ref.split("/").at(-1)];
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters.map(resolved),
      content: operation.requestBody?.content ?? {},
    })),
  );
}

/** A value as it is written in a header or a URL. */
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** Half of a surrogate pair cannot be part of a URL. */
const encoded = (value: unknown): string => encodeURIComponent(textOf(value).toWellFormed());

const rawSegments = [
  "%00",
  "%ff",
  "%c3%28",
  "%E0%80%80",
  "a%2Fb",
  "%2e%2e%2f",
  "%",
  "%zz",
  ".",
  "🚀",
];

/** A part of the path: mostly one that exists, so that later checks are reached. */
function segment(
  operation: Operation,
  parameter: Json,
  target: Target,
  values: Values,
): fc.Arbitrary<string> {
  const { name } = parameter;
  const [collection] = new RegExp(`[^/]+/\\{${name}\\}`).exec(operation.path) ?? [];
  const { places } = target;
  const own = places[`${operation.id} ${name}`];
  const existing = own ?? places[collection ?? ""] ?? places[name] ?? [];
  return fc.oneof(
    {
      weight: 20,
      arbitrary: fc.constantFrom("", ...existing).map((v) => encoded(v || existing[0])),
    },
    { weight: 2, arbitrary: values.of(parameter.schema).map(encoded) },
    { weight: 1, arbitrary: nastyText.map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom(...rawSegments) },
  );
}

function pathOf(operation: Operation, target: Target, values: Values): fc.Arbitrary<string> {
  const named = operation.parameters.filter((parameter) => parameter.in === "path");
  const segments = named.map((parameter) => segment(operation, parameter, target, values));
  return fc.tuple(...segments).map((given) => {
    return named.reduce(
      (path, { name }, at) => path.replace(`{${name}}`, () => given[at] as string),
      operation.path,
    );
  });
}

/** A value of a query or a header: sometimes one that exists. */
function parameterValue({ name, schema }: Json, target: Target, values: Values) {
  const existing = target.places[name] ?? [];
  return fc.oneof(
    { weight: 6, arbitrary: values.of(schema).map(textOf) },
    { weight: 1, arbitrary: nastyText },
    ...(existing.length === 0 ? [] : [{ weight: 12, arbitrary: fc.constantFrom(...existing) }]),
  );
}

function queryOf(operation: Operation, target: Target, values: Values): fc.Arbitrary<string> {
  const named = operation.parameters.filter((parameter) => parameter.in === "query");
  const one = named.map((parameter) => {
    const value = parameterValue(parameter, target, values);
    return value.map((given) => `${parameter.name}=${encoded(given)}`);
  });
  if (one.length === 0) return fc.constantFrom("", "", "", "?x=1", "?", "?&&=&");
  const some = fc.subarray(one).chain((chosen) => fc.tuple(...chosen));
  const all = fc.tuple(...one);
  return fc.oneof(all, some, fc.array(fc.oneof(...one))).map((parts) => `?${parts.join("&")}`);
}

/** Other characters are refused by the transport, before there is a request. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headersOf(
  operation: Operation,
  target: Target,
  values: Values,
): fc.Arbitrary<Record<string, string>> {
  // Bodies are rarely compressed, so a coding at random would refuse most of them.
  const named = operation.parameters.filter(
    (parameter) => parameter.in === "header" && parameter.name !== "Content-Encoding",
  );
  const fields = named.map((parameter) => {
    const value = fc.oneof(parameterValue(parameter, target, values), fc.constant("*"));
    return [parameter.name, value.filter((text) => HEADER_VALUE.test(text))] as const;
  });
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  const others = fc.constantFrom<Record<string, string>>(
    ...[{}, {}, {}, {}, {}, {}, { "content-encoding": "gzip" }, { "content-encoding": "br" }],
    ...[{ accept: "text/html" }, { range: "bytes=0-1" }, { "x-http-method-override": "DELETE" }],
  );
  return fc.tuple(known, others).map(([a, b]) => ({ ...(a as Record<string, string>), ...b }));
}

/** JSON text that a strict parser has to refuse, or read with care. */
function damagedJson(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    fc.tuple(text, fc.nat(CUT_MAX)).map(([whole, at]) => whole.slice(0, at)),
    fc.tuple(text, fc.nat(CUT_MAX), nastyText).map(([whole, at, nasty]) => {
      return whole.slice(0, at) + nasty + whole.slice(at);
    }),
    text.map((whole) => `${whole.slice(0, -1)},${whole.slice(1)}`),
    fc.constantFrom(
      "",
      " ",
      "\ufeff{}",
      "[".repeat(600),
      '{"a":'.repeat(600),
      '{"vector":[1e999]}',
    ),
    fc.constantFrom("NaN", "01", '{"a":1e400}', '{"a":"\\ud800"}', "'a'", "{}{}", "null", "[]"),
  );
}

function jsonBody({ schema: given, example }: Json, values: Values, valid: Values) {
  const schema = valid.resolved(given);
  const replaced = valid.of(schema);
  // The example with some fields replaced reaches checks that few random values would.
  const fields = Object.entries<Json>(schema.properties ?? {}).map(
    ([name, field]) => [name, values.of(field)] as const,
  );
  const few = fc
    .subarray(fields, { maxLength: Math.min(FIELDS_MAX, fields.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)))
    .map((given) => ({ ...example, ...given }));
  const text = fc.oneof(few, replaced, values.of(schema)).map((json) => JSON.stringify(json));
  const some = fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 1, arbitrary: anything.map((json) => JSON.stringify(json) ?? "") },
    { weight: 1, arbitrary: damagedJson(text) },
  );
  return some;
}

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.uint8Array({ minLength: VECTOR_BYTES, maxLength: VECTOR_BYTES, size: "max" }),
);

function bodyOf(type: string, media: Json, values: Values, valid: Values) {
  const json = jsonBody(media, values, valid);
  if (type === JSON_TYPE) return json;
  if (/ndjson/.test(type)) return fc.array(json, { maxLength: 4 }).map((lines) => lines.join("\n"));
  if (/octet-stream/.test(type)) return bytes.map((given) => Uint8Array.from(given));
  return fc.oneof(
    nastyText.map((given) => given.toWellFormed()),
    json.map((given) => `payload=${encoded(given)}`),
    bytes.map((given) => Uint8Array.from(given)),
  );
}

const WRONG_TYPES = [
  "text/plain",
  "application/xml",
  JSON_TYPE,
  `${JSON_TYPE}; charset=utf-16`,
  ";",
];

/** A body with its content type; sometimes with that of another. */
function contentOf(operation: Operation, values: Values, valid: Values) {
  const typed = Object.entries<Json>(operation.content).map(([type, media]) => ({
    weight: 8,
    arbitrary: bodyOf(type, media, values, valid).map((body) => ({ type: type as string, body })),
  }));
  const wrong = fc.record({ type: fc.constantFrom(...WRONG_TYPES), body: nastyText });
  const none = fc.constant({ type: undefined, body: undefined });
  if (operation.method === "GET") return none;
  return fc.oneof(
    ...typed,
    { weight: typed.length === 0 ? 8 : 1, arbitrary: none },
    { weight: 1, arbitrary: wrong },
  );
}

/** What the transport takes; it answers longer heads by itself. */
const HEAD_MAX_CHARS = 12_000;

const isTransportable = ({ path, headers, caller }: Exchange, target: Target): boolean =>
  path.length + JSON.stringify([headers, target.callers[caller]]).length < HEAD_MAX_CHARS;

/** Requests to an operation, with parameters, headers and bodies that are valid or hostile. */
export function exchangesOf(
  operation: Operation,
  target: Target,
  document: Json,
): fc.Arbitrary<Exchange> {
  const valid = new Values(document, 0);
  const requests = [valid, new Values(document, HOSTILITY)].map((values) =>
    fc.record({
      path: pathOf(operation, target, values),
      query: queryOf(operation, target, values),
      headers: headersOf(operation, target, values),
      content: contentOf(operation, values, valid),
      caller: fc.oneof(
        { weight: 12, arbitrary: fc.constant("owner") },
        { weight: 4, arbitrary: fc.constantFrom(...Object.keys(target.callers)) },
      ),
    }),
  );
  const exchanges = fc.oneof(...requests).map(({ path, query, headers, content, caller }) => ({
    method: operation.method,
    path: `${path}${query}`,
    caller,
    body: content.body,
    headers: {
      ...headers,
      ...(content.type === undefined ? {} : { "content-type": content.type }),
    },
  }));
  return exchanges.filter((exchange) => isTransportable(exchange, target));
}
