import { describe, expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
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
  // test/native/parser.test.ts compares the problems of bodies of all kinds with those of JSON.parse and TypeBox.
  test.each<[what: string, body: object, fields: string[]]>([
    [
      "several faults at once",
      { vector: withElement(2, "x"), dimension: 5, limit: 0, threshold: 9 },
      ["vector[2]", "dimension", "limit", "threshold"],
    ],
    ["another dimension", { vector, dimension: 1024 }, ["vector"]],
    [
      "base64 with an infinity",
      { vector: base64Of(query.with(7, Number.POSITIVE_INFINITY)), dimension: 768 },
      ["vector[7]"],
    ],
  ])("%s in a search answers 400 and names the field", async (_, body, fields) => {
    const answer = await json(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ slug: "validation-failed", category: "VALIDATION" });
    expect(fieldsOf(answer.body)).toEqual(fields);
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
