import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { textOf } from "./sources.ts";

const api = await sharedApi();
const { document } = await api.contract();
const operations: Array<{ name: string; operation: Json }> = Object.entries<Json>(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

/** Calls `visit` with every property below a value and its place. */
function eachProperty(value: Json, place: string, visit: (schema: Json, place: string) => void) {
  if (typeof value !== "object" || value === null) return;
  if (value.type === "object" && typeof value.properties === "object") {
    for (const [name, schema] of Object.entries(value.properties))
      visit(schema, `${place}.${name}`);
  }
  for (const [name, member] of Object.entries(value)) {
    if (name !== "example" && name !== "examples") eachProperty(member, `${place}.${name}`, visit);
  }
}

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document.openapi).toBe("3.1.0");
});

test("every operation has a summary and examples of its response and its bodies", () => {
  for (const { name, operation } of operations) {
    expect(operation.summary, name).toBeString();
    const [status] = Object.keys(operation.responses).filter((code) => /^20[01]$/.test(code));
    if (operation.responses["204"] !== undefined) continue;
    const [answer] = Object.values<Json>(operation.responses[status as string].content);
    expect(answer.example, `${name}: example of the answer`).toBeDefined();
    for (const media of Object.values<Json>(operation.requestBody?.content ?? {})) {
      expect(media.example, `${name}: body`).toBeDefined();
    }
  }
});

test("every parameter, header and field is described", () => {
  const bare: string[] = [];
  for (const { name, operation } of operations) {
    for (const parameter of operation.parameters) {
      if (parameter.$ref === undefined && !parameter.description) {
        bare.push(`${name}: parameter ${parameter.name}`);
      }
    }
  }
  eachProperty(document, "", (schema, place) => {
    if (!schema.description && schema.$ref === undefined) bare.push(place);
  });
  expect(bare).toEqual([]);
});

test("the examples in the document are valid against their schemas", async () => {
  const contract = await api.contract();
  for (const { name, operation } of operations) {
    const faults = contract.exampleFaults(operation);
    expect(faults, name).toEqual([]);
  }
});

/** Optional parameters whose values only an earlier answer tells, or that exclude another one. */
const WITHOUT_EXAMPLE = new Set([
  ...["cursor", "min_change", "If-Match", "If-None-Match", "release", "base_release"],
  ...["secret", "X-Service-Webhook-Secret", "Content-Encoding"],
]);

test("every parameter that can stand beside the others has an example that its schema allows", async () => {
  const contract = await api.contract();
  for (const { name, operation } of operations) {
    for (const parameter of operation.parameters.map((given: Json) => contract.resolved(given))) {
      if (!parameter.required && WITHOUT_EXAMPLE.has(parameter.name)) continue;
      expect(parameter.example, `${name}: ${parameter.name}`).toBeDefined();
      const media = { example: parameter.example, schema: parameter.schema };
      const faults = contract.exampleFaults({ requestBody: { content: { media } }, responses: {} });
      expect(faults, `${name}: ${parameter.name}`).toEqual([]);
    }
  }
});

test("objects of requests and answers are components with names, and no operation repeats them", () => {
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining([
      ...[
        "ApiKey",
        "Chunk",
        "Conversation",
        "Environment",
        "ErrorType",
        "InputRequest",
        "LookupPage",
      ],
      ...[
        "Message",
        "PageInfo",
        "Problem",
        "Project",
        "Release",
        "SearchRequest",
        "SearchResponse",
      ],
    ]),
  );
  const inline = operations.flatMap(({ name, operation }) =>
    [operation.requestBody, ...Object.values<Json>(operation.responses)]
      .flatMap((body) => Object.entries<Json>(body?.content ?? {}))
      .filter(([type, { schema }]) => /[/+]json$/.test(type) && !schema.$ref && schema.type)
      .map(([type]) => `${name} ${type}`),
  );
  expect(inline).toEqual([]);
});

test("every operation documents its authentication and the 401, but for the one that anybody may call", () => {
  const open = operations.filter(({ operation }) => operation.security.length === 0);
  expect(open.map(({ name }) => name)).toEqual(["GET /mcp"]);
  for (const { name, operation } of operations.filter((each) => !open.includes(each))) {
    expect(Object.keys(operation.responses), name).toContain("401");
    const callers = [{ bearerAuth: [] }, { apiKeyAuth: [] }];
    const secrets = [{ webhookSecret: [] }, { webhookSecretInQuery: [] }];
    const isIngress = name === "POST /webhooks/{webhook_id}";
    expect(operation.security, name).toEqual(isIngress ? [...secrets, ...callers] : callers);
  }
});

test("every problem in the document has a type that GET /errors/{slug} explains", async () => {
  const caller = await api.user();
  const slugs = new Set<string>();
  for (const { operation } of operations) {
    for (const response of Object.values<Json>(operation.responses)) {
      const examples = response.content?.["application/problem+json"]?.examples ?? {};
      for (const slug of Object.keys(examples)) slugs.add(slug);
    }
  }
  expect(slugs.size).toBeGreaterThanOrEqual(5);
  for (const slug of slugs) expect((await api.get(`/errors/${slug}`, caller)).status).toBe(200);
});

test("the table of operations in docs/api.md has exactly the operations of the document", () => {
  const rows = textOf("docs/api.md").matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|/gm);
  const listed = [...rows].map(([, method, path]) => `${method} ${path}`);
  expect(listed.sort()).toEqual(operations.map(({ name }) => name).sort());
});
