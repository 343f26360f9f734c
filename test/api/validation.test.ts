import { expect, test } from "bun:test";
import { sharedBilling } from "../../support/api/billing.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  addDemo,
  type Example,
  examplesOfOne,
  operationsOf,
  sendExample,
} from "./operation-examples.ts";

const JSON_TYPE = "application/json";
/** Parameters that are for another kind of body than the one that is sent here. */
const OF_BINARY_BODIES = ["dimension", "limit", "threshold", "filter"];
/** More than the service reads into memory. */
const LARGE_BYTES = 1_100_000;

const { api } = await sharedBilling();
const { owner } = await addDemo(api);
const contract = await api.contract();
const operations = await operationsOf(api);

/** Values that a schema of the document does not allow, one for each of its rules. */
function* wrongValues(given: Json): Generator<unknown> {
  const schema = contract.resolved(given);
  const { anyOf, type, minLength = 0, maxLength, minimum, maximum, maxItems, items } = schema;
  if (anyOf !== undefined) {
    yield true;
    return;
  }
  yield type === "string" ? 7 : "no such value";
  if (schema.const !== undefined || schema.format !== undefined) yield "no such value";
  if (minLength > 0) yield "";
  if (maxLength !== undefined) yield "x".repeat(maxLength + 1);
  if (minimum !== undefined) yield minimum - 1;
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) yield maximum + 1;
  if (type === "integer") yield 1.5;
  if (maxItems !== undefined) yield Array.from({ length: maxItems + 1 }, (_, i) => `x${i}`);
  if (items !== undefined) for (const value of wrongValues(items)) yield [value];
}

/** Expects an answer that names the field, or a part of it. */
function expectRefused({ status, body }: Json, field: string, what: unknown): void {
  const why = `${field}: ${JSON.stringify(what)?.slice(0, 60)}`;
  expect([status, body.slug], why).toEqual([400, "validation-failed"]);
  const named = body.errors.map((error: Json) => error.field.replace(/[.[].*/, ""));
  expect(named, why).toContain(field);
}

for (const operation of operations) {
  const { method, template } = operation;
  const bodies: Json = operation.operation.requestBody?.content ?? {};
  const schema = contract.resolved(bodies[JSON_TYPE]?.schema ?? {});
  const fields = Object.entries<Json>(schema.properties ?? {});
  const query: Json[] = operation.operation.parameters
    .map((parameter: Json) => contract.resolved(parameter))
    .filter(({ in: place, name }: Json) => {
      return (
        place === "query" &&
        !(fields.length > 0 && OF_BINARY_BODIES.includes(name)) &&
        name !== "min_change"
      );
    });

  if (fields.length > 0 && operation.operation.operationId !== "callMcp") {
    test(`every field of the body of ${method} ${template} is checked, and named if it is wrong or missing`, async () => {
      const [example] = await examplesOfOne(api, owner, operation);
      const valid = JSON.parse(example?.body ?? "");
      const send = (body: unknown) =>
        sendExample(api, owner, { ...(example as Example), body: JSON.stringify(body) });
      for (const [name, of] of fields) {
        for (const value of wrongValues(of)) {
          expectRefused(await send({ ...valid, [name]: value }), name, value);
        }
      }
      for (const name of schema.required ?? []) {
        const { [name]: _, ...rest } = valid;
        expectRefused(await send(rest), name, undefined);
      }
      for (const body of [[], "text", 7]) expectRefused(await send(body), "body", body);
    });
  }

  if (JSON_TYPE in bodies && !("*/*" in bodies)) {
    test(`a body of ${method} ${template} that is malformed, large or of another type is refused`, async () => {
      const example = (await examplesOfOne(api, owner, operation)).find(
        ({ headers }) => headers["content-type"] === JSON_TYPE,
      );
      const send = async (body: string, more: Readonly<Record<string, string>> = {}) => {
        const headers = { ...example?.headers, ...more };
        const answer = await sendExample(api, owner, { ...(example as Example), headers, body });
        const { slug, errors } = answer.body;
        return { ...answer, refusal: [answer.status, errors?.[0]?.field ?? slug] };
      };
      for (const text of ["{", " ", "[]", "\ufeff{}", "[".repeat(90_000)]) {
        expect((await send(text)).refusal).toEqual([400, "body"]);
      }
      const large = JSON.stringify({ name: "n".repeat(LARGE_BYTES) });
      expect((await send(large)).refusal).toEqual([413, "payload-too-large"]);
      const typed = await send("{}", { "content-type": "text/plain" });
      expect(typed.refusal).toEqual([415, "unsupported-media-type"]);
      expect(typed.headers.get("accept")).toBe(Object.keys(bodies).join(", "));
      for (const type of Object.keys(bodies)) expect(typed.body.detail).toContain(type);
    });
  }

  const scopes = query.filter(({ name }) => /environment$|release$/.test(name));
  if (scopes.length > 0) {
    test(`a scope of ${method} ${template} that does not exist is a 404, and two names for one are refused`, async () => {
      const [example] = await examplesOfOne(api, owner, operation);
      const ask = (given: Readonly<Record<string, string>>) => {
        const url = new URL((example as Example).path, api.url);
        for (const { name } of scopes) url.searchParams.delete(name);
        for (const [name, value] of Object.entries(given)) url.searchParams.set(name, value);
        return sendExample(api, owner, example as Example, url.pathname + url.search);
      };
      for (const { name } of scopes) {
        const [kind = ""] = /environment$|release$/.exec(name) ?? [];
        const { status, body } = await ask({ [name]: "none" });
        expect([status, body.slug], name).toEqual([404, `${kind}-not-found`]);
        if (kind !== "release") continue;
        const twin = name.replace("release", "environment");
        expectRefused(await ask({ [name]: "none", [twin]: "production" }), name, twin);
      }
    });
  }

  if (query.length > 0) {
    test(`every parameter of ${method} ${template} is checked, and named if it is wrong`, async () => {
      for (const example of await examplesOfOne(api, owner, operation)) {
        for (const { name, schema: of } of query) {
          for (const value of wrongValues(of)) {
            const isText =
              of.type === "string" && of.format === undefined && of.const === undefined;
            if (isText && value === 7) continue;
            const url = new URL(example.path, api.url);
            url.searchParams.set(name, String(value));
            const answer = await sendExample(api, owner, example, url.pathname + url.search);
            if (name === "cursor") expect(answer.body.slug).toBe("invalid-cursor");
            else expectRefused(answer, name, value);
          }
        }
      }
    });
  }
}
