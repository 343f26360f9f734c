import { describe, expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  attach,
  base64Of,
  chunkOf,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const environment = await addEnvironment(sql, project);
const query = randomVector(DIMENSION, 1);
const vector = Array.from(query);
const version = await writeVersion(sql, project, "a.md", [chunkOf(query)]);
await attach(sql, project, environment.id, [version]);
const path = `/projects/${project.slug}/environments/production/search`;

const send = (body: string | Uint8Array<ArrayBuffer>, type: string | undefined, query = "") =>
  api.send("POST", path + query, {
    as: member,
    body,
    headers: type === undefined ? {} : { "content-type": type },
  });
const json = (body: unknown) => send(JSON.stringify(body), "application/json");
const octets = (bytes: Uint8Array<ArrayBuffer>, query: string) =>
  send(bytes, "application/octet-stream", query);
const fieldsOf = (body: Json): string[] => body.errors.map((error: Json) => error.field);

/** The vector with one element replaced. */
const withElement = (at: number, value: unknown) => vector.map((v, i) => (i === at ? value : v));

describe("an invalid body", () => {
  const cases: Array<[what: string, body: unknown, fields: string[]]> = [
    ["nothing", {}, ["vector", "dimension"]],
    ["null for the vector", { vector: null, dimension: 768 }, ["vector"]],
    ["an object for the vector", { vector: {}, dimension: 768 }, ["vector"]],
    ["a vector that is too short", { vector: vector.slice(1), dimension: 768 }, ["vector"]],
    ["a vector that is too long", { vector: [...vector, 1], dimension: 768 }, ["vector"]],
    ["an empty vector", { vector: [], dimension: 768 }, ["vector"]],
    ["a vector of zeros", { vector: vector.map(() => 0), dimension: 768 }, ["vector"]],
    ["zeros once narrowed", { vector: vector.map(() => 1e-60), dimension: 768 }, ["vector"]],
    ["a text element", { vector: withElement(3, "0.5"), dimension: 768 }, ["vector[3]"]],
    ["a null element", { vector: withElement(0, null), dimension: 768 }, ["vector[0]"]],
    ["a boolean element", { vector: withElement(767, true), dimension: 768 }, ["vector[767]"]],
    ["a nested element", { vector: withElement(5, [1]), dimension: 768 }, ["vector[5]"]],
    ["an element beyond float32", { vector: withElement(3, 1e39), dimension: 768 }, ["vector[3]"]],
    ["another dimension", { vector, dimension: 1024 }, ["vector"]],
    ["an unknown dimension", { vector, dimension: 769 }, ["dimension"]],
    ["a fraction for the dimension", { vector, dimension: 768.5 }, ["dimension"]],
    ["limit 0.99", { vector, dimension: 768, limit: 0.99 }, ["limit"]],
    ["limit 100.5", { vector, dimension: 768, limit: 100.5 }, ["limit"]],
    [
      "several faults at once",
      { vector: withElement(2, "x"), dimension: 5, limit: 0, threshold: 9 },
      ["vector[2]", "dimension", "limit", "threshold"],
    ],
    [
      "too few elements for any dimension",
      { vector: [1, 2, 3], dimension: 3 },
      ["vector", "dimension"],
    ],
    ["too few elements, and no dimension", { vector: [1, 2, 3] }, ["vector", "dimension"]],
    ["base64 of another length", { vector: "AAAAAAA=", dimension: 768 }, ["vector"]],
    ["base64 of half floats", { vector: "AAAA", dimension: 768 }, ["vector"]],
    ["text that is not base64", { vector: "!".repeat(4096), dimension: 768 }, ["vector"]],
    ["base64 of zeros", { vector: base64Of(new Float32Array(768)), dimension: 768 }, ["vector"]],
    [
      "base64 with an infinity",
      { vector: base64Of(query.with(7, Number.POSITIVE_INFINITY)), dimension: 768 },
      ["vector[7]"],
    ],
  ];

  test.each(cases)("%s in a search answers 400 and names the field", async (_, body, fields) => {
    const answer = await json(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ slug: "validation-failed", category: "VALIDATION" });
    expect(fieldsOf(answer.body)).toEqual(fields);
  });

  test("a JSON body that is not UTF-8 answers 400", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ vector, dimension: 768, more: "x" }));
    bytes[bytes.length - 3] = 0xff;
    expect((await send(bytes, "application/json")).status).toBe(400);
  });

  test("the errors of a very faulty body are listed in part, without its values", async () => {
    const secret = "do-not-repeat-this";
    const answer = await json({ vector: vector.map(() => secret), dimension: secret });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(secret);
    expect(answer.body.errors.length).toBeLessThanOrEqual(33);
  });
});

describe("a binary body", () => {
  const bytes = () => new Uint8Array(query.slice().buffer);

  test.each([
    ["no dimension", "", ["dimension"]],
    ["an unknown dimension", "?dimension=5", ["dimension"]],
    ["a text for the dimension", "?dimension=abc", ["dimension"]],
    ["another dimension", "?dimension=1024", ["vector"]],
    ["limit 0", "?dimension=768&limit=0", ["limit"]],
    ["an empty limit", "?dimension=768&limit=", ["limit"]],
    ["a hexadecimal limit", "?dimension=768&limit=0x5", ["limit"]],
    ["threshold 2", "?dimension=768&threshold=2", ["threshold"]],
  ])("a binary body with %s answers 400 and names the parameter", async (_, parameters, fields) => {
    const answer = await octets(bytes(), parameters);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer.body)).toEqual(fields);
  });

  test("a binary body that is empty, ragged, all zeros or not finite answers 400 and names the vector", async () => {
    const fields = async (body: Uint8Array<ArrayBuffer>) =>
      fieldsOf((await octets(body, "?dimension=768")).body);
    expect(await fields(new Uint8Array(0))).toEqual(["vector"]);
    expect(await fields(bytes().slice(1))).toEqual(["vector"]);
    expect(await fields(new Uint8Array(768 * 4))).toEqual(["vector"]);
    const infinite = query.with(2, Number.NEGATIVE_INFINITY);
    expect(await fields(new Uint8Array(infinite.buffer))).toEqual(["vector[2]"]);
  });

  test("a binary body uses limit and threshold of the query string, in every spelling of a number", async () => {
    for (const parameters of ["&limit=2.9&threshold=0.5", "&limit=2e0&threshold=5e-1", ""]) {
      const { status, body } = await octets(bytes(), `?dimension=768${parameters}`);
      expect(status).toBe(200);
      expect(body.data).toHaveLength(1);
      expect(body.page_info.self).toBe(path);
    }
  });

  test("a JSON body ignores the query string", async () => {
    const text = JSON.stringify({ vector, dimension: 768 });
    const { status } = await send(text, "application/json", "?dimension=abc&limit=0");
    expect(status).toBe(200);
  });
});

test("a body of a type that only begins like JSON, or of none, answers 415", async () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ vector, dimension: 768 }));
  for (const type of ["application/jsonp", undefined]) {
    expect((await send(bytes, type)).status, type).toBe(415);
  }
});

test("an unknown scope is reported before an invalid body", async () => {
  const at = `/projects/${project.slug}/environments/nothing/search`;
  expect((await api.post(at, { vector: [] }, member)).status).toBe(404);
  expect((await api.post(path, { vector: [] })).status).toBe(401);
});
