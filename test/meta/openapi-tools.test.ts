import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApiTypes } from "../../scripts/openapi-types.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { ROOT } from "./sources.ts";

const api = await sharedApi();
const { document } = await api.contract();
const folder = mkdtempSync(join(tmpdir(), "tessera-openapi-"));
onCleanup(async () => rmSync(folder, { recursive: true }));
await Bun.write(join(folder, "openapi.json"), JSON.stringify(document));

/** Runs a tool of the development dependencies; returns its output. */
async function run(script: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, join(ROOT, "node_modules", script), ...args], {
    cwd: folder,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()];
  const [out, log] = await Promise.all(texts);
  await child.exited;
  return out === "" ? (log as string) : (out as string);
}

test("a linter finds no fault in the document", async () => {
  const options = ["lint", "openapi.json", "--extends=recommended", "--format=json"];
  const report = JSON.parse(await run("@redocly/cli/bin/cli.js", options));
  expect(report.problems).toEqual([]);
  expect(report.totals).toMatchObject({ errors: 0, warnings: 0 });
});

test("whoever reads the document is told whom to ask", () => {
  const { contact } = document.info as { contact: { name: string; url: string } };
  expect(contact.name).not.toBe("");
  expect(contact.url).toBe(document.servers[0].url);
});

/** What people read of an object first, in this order; then follows what it has, and last when. */
const FIRST = [["id"], ["slug", "name", "path"], ["title"]];
/** Their order is that of RFC 9457 and of JSON-RPC. */
const OTHER_STANDARDS = /^(?:Problem|WebhookProblem|McpMessage|McpAnswer)$/;

/** A place in the order in which people read fields, of a field with this schema. */
function placeOf(name: string, { format, anyOf = [] }: Json): number {
  const first = FIRST.findIndex((names) => names.includes(name));
  if (first >= 0) return first;
  const isTime = [format, ...anyOf.map((one: Json) => one.format)].includes("date-time");
  // `at` is what an entry of a list of events is read by.
  return isTime && name !== "at" ? FIRST.length + 1 : FIRST.length;
}

/** The objects of a schema that have their fields in another order than `places` has, by where they are. */
function outOfOrder(
  schema: Json,
  at: string,
  places: (fields: [string, Json][], required: string[]) => number[],
): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const fields = Object.entries<Json>(schema.properties ?? {});
  const found = places(fields, schema.required ?? []);
  const isSorted = found.every((place, i) => i === 0 || place >= (found[i - 1] as number));
  const below = Object.entries(schema).flatMap(([name, one]) =>
    outOfOrder(one, `${at}.${name}`, places),
  );
  return isSorted ? below : [`${at}: ${fields.map(([name]) => name)}`, ...below];
}

test("every object has its name first and times last", () => {
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).filter(([name]) => !OTHER_STANDARDS.test(name)),
  );
  const places = (fields: [string, Json][]) => fields.map(([name, field]) => placeOf(name, field));
  const all = { schemas, paths: document.paths };
  expect(outOfOrder(all, "", places)).toEqual([]);
});

test("every request has the fields that it needs before those that it may have", () => {
  const operations = Object.values<Json>(document.paths).flatMap((path) => Object.values(path));
  const inline = JSON.stringify(operations.map(({ requestBody = {} }: Json) => requestBody));
  const names = [...inline.matchAll(/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  expect(names).toContain("SearchRequest");
  const bodies = names.map((name) => [name, document.components.schemas[name]]);
  const places = (fields: [string, Json][], required: string[]) =>
    fields.map(([name]) => (required.includes(name) ? 0 : 1));
  expect(outOfOrder([Object.fromEntries(bodies), JSON.parse(inline)], "", places)).toEqual([]);
});

const CALLS = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

type Schemas = components["schemas"];
const client = createClient<paths>({ baseUrl: "https://api.example.com" });
const path = { project_reference: "handbook" };

export async function calls(vector: number[]): Promise<void> {
  const found = await client.POST("/projects/{project_reference}/environments/{environmentName}/search", {
    params: { path: { ...path, environmentName: "production" }, query: { effort: "exact" } },
    body: { vector, dimension: 768, limit: 3 },
  });
  const chunk: Schemas["FoundChunk"] | undefined = found.data?.data[0]?.chunk;
  const problem: Schemas["Problem"] | undefined = found.error;
  void [chunk?.content.length, problem?.slug?.length];

  const page = await client.GET("/projects/{project_reference}/chunks", {
    params: { path, query: { limit: 10 } },
  });
  const next: string | null | undefined = page.data?.page_info.next;
  void next;

  const created = await client.POST("/projects", { body: { name: "Handbook", slug: "handbook" } });
  const project: Schemas["Project"] | undefined = created.data;
  void project?.releases?.map(({ name }) => name);

  const looked = await client.POST("/projects/{project_reference}/knowledge/lookup", {
    params: { path },
    body: { query: "snapshots", lookup_target: { release: "v1" } },
  });
  const mode: "search" | "browse" | undefined = looked.data?.mode;
  void mode;

  await client.POST("/projects/{project_reference}/import", { params: { path }, body: "{}" });
  await client.POST("/webhooks/{webhook_id}", {
    params: { path: { webhook_id: "w" }, header: { "Idempotency-Key": "k" } },
    body: { action: "opened" },
  });
  await client.DELETE("/api-keys/{id}", { params: { path: { id: "k" } } });

  // @ts-expect-error: there is no such path
  await client.GET("/nothing");
  await client.POST("/projects/{project_reference}/environments/{environmentName}/search", {
    params: { path: { ...path, environmentName: "production" } },
    // @ts-expect-error: a dimension is required
    body: { vector },
  });
}
`;

const STRICT = {
  compilerOptions: {
    target: "ESNext",
    module: "Preserve",
    moduleResolution: "bundler",
    noEmit: true,
    lib: ["ESNext", "DOM", "DOM.Iterable"],
    types: [],
    allowImportingTsExtensions: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    paths: { "openapi-fetch": [join(ROOT, "node_modules/openapi-fetch/dist/index.d.mts")] },
  },
  files: ["calls.ts"],
};

test("calls through openapi-fetch compile against the generated types", async () => {
  await Bun.write(join(folder, "api.ts"), await openApiTypes(document));
  await Bun.write(join(folder, "calls.ts"), CALLS);
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(STRICT));
  expect(await run("typescript-7/bin/tsc", ["--project", folder])).toBe("");
});
