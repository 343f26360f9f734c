import { describe, expect, test } from "bun:test";
import type { Answer } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { type Operation, operationsOf } from "./exchanges.ts";
import { startTarget } from "./target.ts";

const JSON_TYPE = "application/json";
const FAILURE = 500;
/** Operations that store nothing of their body. Text that no data can contain finds nothing. */
const READING = new Set([
  ...["retrieve", "lookUpKnowledge", "searchEnvironment", "searchRelease", "callMcp"],
]);
/** Bodies and members that are stored as the JSON text that they are, so that they may hold every escape. */
const KEPT_AS_SENT = new Set(["deliverWebhook", "answerInputRequest values"]);

/** Text as a part of a JSON string, and of a URL. */
const UNSTORABLE = {
  "a NUL character": { json: Buffer.from("\\u0000"), path: "a%00b" },
  "a high surrogate alone": { json: Buffer.from("\\ud83d"), path: "%ED%A0%BD" },
  "a low surrogate alone": { json: Buffer.from("\\udc00b"), path: "%ED%B0%80" },
  "a surrogate in bytes": { json: Buffer.from([0xed, 0xa0, 0xbd]), path: "a%ED%A0%BD" },
  "bytes of another encoding": { json: Buffer.from([0xfc]), path: "gr%FCn" },
};

const target = await startTarget();
const { api, callers, places } = target;
const contract = await api.contract();
const operations = operationsOf(contract.document);
const withJson = operations.filter(({ content }) => content[JSON_TYPE] !== undefined);

/** What stands for the text that cannot be stored until the body is JSON. */
const MARK = "marked-text";

interface Place {
  /** As an error names it. */
  readonly field: string;
  /** The body with a mark at the place. */
  readonly body: Json;
}

/** The value, unless it is an object that an alternative of its schema does not describe. */
function describedBy(alternative: Json, value: Json): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { properties, type } = contract.resolved(alternative);
  const isOther = properties !== undefined && Object.keys(value).some((name) => !properties[name]);
  return isOther || type === "string" ? undefined : value;
}

/** The places for text in a value: in members that its schema names, and wherever the example has some. */
function placesOf(id: string, value: Json, schema: Json, field = ""): Place[] {
  if (KEPT_AS_SENT.has(`${id} ${field}`)) return [];
  const { properties = {}, items = {}, anyOf = [], type } = contract.resolved(schema ?? {});
  if (anyOf.length > 0) {
    return anyOf.flatMap((each: Json) => placesOf(id, describedBy(each, value), each, field));
  }
  if (typeof value === "string" || (value === undefined && type === "string")) {
    return [{ field, body: MARK }];
  }
  if (Array.isArray(value) || type === "array") {
    const [first] = (value ?? []) as Json[];
    return placesOf(id, first, items, `${field}[0]`).map((place) => ({
      ...place,
      body: [place.body],
    }));
  }
  const names = new Set([...Object.keys(value ?? {}), ...Object.keys(properties)]);
  return [...names].flatMap((name) => {
    const inside = placesOf(id, value?.[name], properties[name], field ? `${field}.${name}` : name);
    return inside.map((place) => ({ ...place, body: { ...value, [name]: place.body } }));
  });
}

/** The places for text in the body of an operation: in its example, with a filter if it takes one. */
function bodyPlaces({ id, content }: Operation): Place[] {
  const { example, schema } = content[JSON_TYPE];
  const { properties } = contract.resolved(schema);
  const filter = { path: "a.md", "frontmatter.a": { $in: ["b"] } };
  const given = properties?.filter === undefined ? example : { ...example, filter };
  return placesOf(id, given, schema);
}

/** The body as bytes, with the given ones after the marked text. */
function bytesOf(body: Json, inserted: Uint8Array): Uint8Array<ArrayBuffer> {
  const [before, after] = JSON.stringify(body).split(MARK) as [string, string];
  return new Uint8Array(Buffer.concat([Buffer.from(`${before}a`), inserted, Buffer.from(after)]));
}

/** The path of an operation with parameters that exist, but for one that is given. */
function pathOf({ id, path }: Operation, given: Readonly<Record<string, string>> = {}): string {
  return path.replace(/([^/]+)\/\{(\w+)\}/g, (_, collection: string, name: string) => {
    const known =
      places[`${id} ${name}`] ??
      places[`${collection}/{${name}}`] ??
      places[collection] ??
      places[name];
    return `${collection}/${given[name] ?? encodeURIComponent(known?.[0] ?? "x")}`;
  });
}

const owner = { headers: callers["owner"] ?? {}, userId: "" };

/** The contents of all tables but those of the server's own state. */
async function stored(): Promise<unknown> {
  const tables = await api.sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN ('index_state', 'index_nodes')
    ORDER BY 1`;
  const sums = tables.map(
    ({ name }) => `SELECT '${name}', count(*), sum(hashtext(t::text)) FROM "${name}" t`,
  );
  return await api.sql.unsafe(sums.join(" UNION ALL "));
}

/** Sends the body with text that cannot be stored at each place, and checks the answers. */
async function sendEverywhere(
  operation: Operation,
  check: (answer: Answer, field: string, what: string) => void,
): Promise<void> {
  for (const { field, body } of bodyPlaces(operation)) {
    for (const [what, { json }] of Object.entries(UNSTORABLE)) {
      const answer = await api.send(operation.method, pathOf(operation), {
        as: owner,
        body: bytesOf(body, json),
        headers: { "content-type": JSON_TYPE },
      });
      check(answer, field, what);
    }
  }
}

describe("text that cannot be stored", () => {
  for (const operation of withJson.filter(({ id }) => !READING.has(id) && !KEPT_AS_SENT.has(id))) {
    test(`in any member of the body of ${operation.id} is a 400 that names it, and nothing is stored`, async () => {
      const before = await stored();
      await sendEverywhere(operation, ({ status, body, text }, field, what) => {
        const fields = body.errors?.map((error: Json) => error.field);
        expect([what, field, status, fields], text).toEqual([what, field, 400, [field]]);
      });
      expect(await stored()).toEqual(before);
    });
  }

  for (const operation of withJson.filter(({ id }) => READING.has(id))) {
    test(`in the body of ${operation.id}, which stores nothing, is no failure`, async () => {
      await sendEverywhere(operation, ({ status, text }, _, what) => {
        expect(status, `${what}: ${text}`).toBeLessThan(FAILURE);
      });
    });
  }

  test("is looked for in the bodies of all operations that have text in them", () => {
    const without = withJson.filter((operation) => bodyPlaces(operation).length === 0);
    expect(without.map(({ id }) => id)).toEqual(["answerInputRequest"]);
  });

  for (const operation of operations.filter(({ parameters }) => parameters.length > 0)) {
    test(`in a parameter of ${operation.id} is refused, or names nothing`, async () => {
      const { method, content, parameters } = operation;
      const [type, media] = Object.entries<Json>(content)[0] ?? [];
      const { example } = media ?? {};
      const body = typeof example === "object" ? JSON.stringify(example) : example;
      const sent = type === undefined ? {} : { body, headers: { "content-type": type } };
      for (const { name, in: place } of parameters) {
        for (const { path } of place === "header" ? [] : Object.values(UNSTORABLE)) {
          const url =
            place === "path"
              ? pathOf(operation, { [name]: path })
              : `${pathOf(operation)}?${name}=${path}`;
          const { status, text } = await api.send(method, url, { as: owner, ...sent });
          expect(status, `${url}: ${text}`).toBeLessThan(FAILURE);
          if (place === "path") expect([400, 404], `${url}: ${text}`).toContain(status);
        }
      }
    });
  }
});
