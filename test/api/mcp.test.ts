import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { McpHeaders } from "../../src/api/mcp/schema.ts";
import { ANSWER_PIECE_BYTES } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  attach,
  chunkOf,
  filledRelease,
  publishTexts,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { assistantOf } from "./mcp-client.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(sql, project);
const query = randomVector(DIMENSION, 1);
const version = await sql.begin((tx) =>
  writeVersion(tx as never, project, "a.md", [chunkOf(query)]),
);
await attach(sql, project, environment.id, [version]);
await filledRelease(sql, project, "v1.0.0", [version]);
await publishTexts(sql, project, environment, {
  "guide/snapshots.md": "# Snapshots\n\nHow the index is written to disk.",
  "guide/webhooks.md": "# Webhooks\n\nDeliveries arrive over HTTP.",
});

const assistant = (as: Caller) => assistantOf(api, as);

const client = await assistant(member);
// The client then checks each result against the tool's output schema.
const { tools } = await client.listTools();

const run = async (name: string, args: Record<string, unknown>, by = client): Promise<Json> =>
  await by.callTool({ name, arguments: { project_reference: project.slug, ...args } });
const errorOf = (result: Json): string => {
  expect(result.isError).toBe(true);
  return result.content[0].text;
};

/** Calls a tool until it finds something. */
async function found(name: string, args: Record<string, unknown>): Promise<Json> {
  let result: Json;
  await until(`${name} finds something`, async () => {
    result = await run(name, args);
    return result.structuredContent?.data.length > 0;
  });
  return result;
}

const LIST = { jsonrpc: "2.0", id: "a", method: "tools/list" };
const send = (json: unknown, headers: Record<string, string> = {}) =>
  api.send("POST", "/mcp", { as: member, json, headers });

describe("POST /mcp", () => {
  test("a client learns the server's name and what its tools are for", () => {
    expect(client.getServerVersion()?.name).toBe("tessera");
    expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {} });
    expect(client.getInstructions()).toContain("project_reference");
  });

  test("the tools take the parameters and the body of their operations", async () => {
    expect(tools.map(({ name }) => name)).toEqual([
      ...["lookup", "search", "list_projects", "list_files", "read_file"],
    ]);
    const { document } = await api.contract();
    const bodyOf = (path: string): string[] => {
      const { schema } = document.paths[path].post.requestBody.content["application/json"];
      return Object.keys(document.components.schemas[schema.$ref.split("/").at(-1)].properties);
    };
    const [lookup, search] = tools.map((tool) => Object.keys(tool.inputSchema.properties ?? {}));
    const reference = "/projects/{project_reference}";
    expect(lookup).toEqual(["project_reference", ...bodyOf(`${reference}/knowledge/lookup`)]);
    const without = new Set(["vector", "dimension", "target"]);
    expect(search).toEqual([
      ...["project_reference", "environment", "release"],
      ...bodyOf(`${reference}/retrieve`).filter((field) => !without.has(field)),
    ]);
    for (const tool of tools) expect(tool.annotations?.readOnlyHint).toBe(true);
  });

  test("lookup finds what the operation finds, as text and as structure", async () => {
    const result = await found("lookup", { query: "snapshots", limit: 1 });
    const path = `/projects/${project.slug}/knowledge/lookup`;
    const { body } = await api.post(path, { query: "snapshots", limit: 1 }, member);
    expect(result.structuredContent).toEqual(body);
    expect(JSON.parse(result.content[0].text)).toEqual(body);
    expect(result.structuredContent.data[0].path).toBe("guide/snapshots.md");
  });

  test("search finds the passages of an environment and of a release by text", async () => {
    const [chunk] = version.chunks;
    const targets = [{}, { environment: environment.name }, { release: "v1.0.0" }];
    for (const target of targets) {
      const result = await found("search", { query: chunk?.content, ...target });
      const [hit] = result.structuredContent.data;
      expect(hit.chunk.id).toBe(chunk?.id);
    }
    const { structuredContent: first } = await run("search", { query: "index http", limit: 1 });
    const { structuredContent: next } = await run("search", { cursor: first.page_info.next });
    const paths = [...first.data, ...next.data].map(({ file }: Json) => file.path);
    expect(paths.sort()).toEqual(["guide/snapshots.md", "guide/webhooks.md"]);
    const { structuredContent } = await run("search", { query: "index http", group_by: "file" });
    const grouped = structuredContent.data.map(({ file }: Json) => file.path);
    expect(grouped.sort()).toEqual(paths.sort());
  });

  test("an assistant finds projects and files, and reads a file range by range", async () => {
    const projects = await run("list_projects", { limit: 1 });
    const listed = { slug: project.slug, environments: ["production"], releases: ["v1.0.0"] };
    expect(projects.structuredContent).toMatchObject({ data: [listed], next: null });
    const first = await run("list_files", { path_prefix: "guide/", limit: 1 });
    expect(first.structuredContent.data).toMatchObject([
      { path: "guide/snapshots.md", title: "Snapshots" },
    ]);
    const rest = await run("list_files", { cursor: first.structuredContent.next });
    expect(rest.structuredContent).toMatchObject({
      data: [{ path: "guide/webhooks.md" }],
      next: null,
    });
    const filtered = await run("list_files", { filter: { path: { $glob: "**/web*" } } });
    expect(filtered.structuredContent.data).toMatchObject([{ path: "guide/webhooks.md" }]);
    const file = "guide/snapshots.md";
    const whole = (await run("read_file", { file })).structuredContent;
    expect(whole).toMatchObject({ title: "Snapshots", start_offset: 0, next_offset: null });
    const begin = (await run("read_file", { file, length: 14 })).structuredContent;
    expect(begin.content).toBe("# Snapshots\n\n");
    const end = await run("read_file", { file, start_offset: begin.next_offset });
    expect(begin.content + end.structuredContent.content).toBe(whole.content);
    expect(end.structuredContent.headings).toMatchObject([{ level: 1, text: "Snapshots" }]);
  });

  test("an answer of many bytes is complete", async () => {
    const owner = await api.user();
    const named = { name: "n".repeat(2 * ANSWER_PIECE_BYTES), slug: `many-${randomUUID()}` };
    expect((await api.post("/projects", named, owner)).status).toBe(201);
    const { structuredContent } = await run("list_projects", {}, await assistant(owner));
    expect(structuredContent.data).toMatchObject([named]);
  });

  test("a range of a file never cuts a character, and has the headings around it", async () => {
    const content = "# One\n\n## Two\n\n😀😀😀\n\n# Three\n\n## Four\n";
    await publishTexts(sql, project, environment, { "emoji.md": content });
    let text = "";
    for (let offset: number | null = 0; offset !== null; ) {
      const args: Json = { file: "emoji.md", start_offset: offset, length: 1 };
      const range: Json = (await run("read_file", args)).structuredContent;
      expect(range.content.isWellFormed()).toBe(true);
      text += range.content;
      offset = range.next_offset;
    }
    expect(text).toBe(content);
    const at = { file: "emoji.md", start_offset: content.indexOf("😀") + 1, length: 2 };
    const { headings, start_offset } = (await run("read_file", at)).structuredContent;
    expect(start_offset).toBe(at.start_offset - 1);
    expect(headings.map((each: Json) => each.text)).toEqual(["One", "Two", "Three", "Four"]);
    const later = await run("read_file", { file: "emoji.md", start_offset: content.length });
    expect(later.structuredContent).toMatchObject({ content: "", next_offset: null });
    expect(later.structuredContent.headings.map((each: Json) => each.text)).toEqual([
      ...["Three", "Four"],
    ]);
  });

  test("invalid arguments are a tool error that names the problem and each field", async () => {
    const lookup = errorOf(await run("lookup", { limit: 0, shard_count: "x" }));
    expect(lookup).toStartWith("validation-failed: limit: ");
    expect(lookup).toContain("- shard_count: ");
    expect(errorOf(await run("search", {}))).toStartWith("validation-failed: query: ");
    const both = { query: "x", environment: "production", release: "v1.0.0" };
    expect(errorOf(await run("search", both))).toStartWith("validation-failed: release: ");
    expect(errorOf(await run("search", { query: "x", mode: "much" }))).toStartWith(
      "validation-failed: mode: ",
    );
    for (const name of ["lookup", "search"]) {
      const result = await client.callTool({ name, arguments: { query: "x" } });
      expect(errorOf(result)).toStartWith("validation-failed: project_reference: is required");
    }
    expect(errorOf(await run("lookup", { cursor: "nonsense" }))).toStartWith("invalid-cursor: ");
  });

  test("a missing scope is a tool error with its slug", async () => {
    const lookup = await run("lookup", { query: "x", lookup_target: { release: "v9" } });
    expect(errorOf(lookup)).toStartWith("release-not-found: ");
    const search = { query: "x", environment: "a/b\ud800" };
    expect(errorOf(await run("search", search))).toStartWith("environment-not-found: ");
  });

  test("a caller without the permission gets a tool error, and the tools are still listed", async () => {
    const by = await assistant(await api.unpermitted(project));
    expect((await by.listTools()).tools).toHaveLength(tools.length);
    const lookup = errorOf(await run("lookup", { query: "x" }, by));
    expect(lookup).toStartWith("permission-denied: ");
    expect(lookup).toContain("knowledge.lookup");
    expect(errorOf(await run("search", {}, by))).toContain("search.query");
  });

  test("a foreign caller cannot distinguish a project from one that does not exist", async () => {
    const withoutId = (text: string) => text.replace(/urn:request:\S+/, "");
    for (const { why, caller } of await api.foreigners(project)) {
      const by = await assistant(caller);
      const [there, missing] = [
        await run("lookup", { query: "x" }, by),
        await run("lookup", { query: "x", project_reference: "no-such-project" }, by),
      ].map(errorOf);
      expect(there, why).toStartWith("project-not-found: ");
      expect(withoutId(there as string), why).toBe(withoutId(missing as string));
      expect(errorOf(await run("search", { query: "x" }, by)), why).toStartWith(
        "project-not-found: ",
      );
    }
  });

  test("one message is answered in JSON, without a session; a notification is answered 202", async () => {
    const answer = await send(LIST);
    expect(answer.status).toBe(200);
    expect(answer.body.id).toBe("a");
    expect(answer.body.result.tools).toHaveLength(tools.length);
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    const { status, text } = await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([status, text]).toEqual([202, ""]);
  });

  test("the documented versions of the protocol are those that the server supports", () => {
    const { anyOf } = McpHeaders.properties["MCP-Protocol-Version"];
    expect([...SUPPORTED_PROTOCOL_VERSIONS].sort()).toEqual(anyOf.map((each) => each.const).sort());
  });

  test("an unknown method or tool is answered with an error of the protocol", async () => {
    expect((await send({ ...LIST, method: "nonsense" })).body.error.code).toBe(-32_601);
    const unknown = await send({ ...LIST, method: "tools/call", params: { name: "delete" } });
    expect(unknown.body.error.code).toBe(-32_602);
    expect(unknown.body.error.message).toContain("lookup, search");
  });

  test("parameters that are not of their type are -32602 in one sentence", async () => {
    const call = (text: string) =>
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${text}}`;
    const hostile = [
      ...["1", '"x"', "[]", "[{}]", "null", "true"].map(
        (args) => `{"name":"lookup","arguments":${args}}`,
      ),
      '{"name":"lookup","arguments":{"__proto__":{"project_reference":"x"}}}',
      '{"name":"search","arguments":{"project_reference":"x","__proto__":null}}',
      '{"name":"lookup","__proto__":{"arguments":{}}}',
      '{"name":7}',
      '{"name":"lookup","_meta":3}',
      "{}",
    ].map(call);
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, i])));
    const list = ['{"cursor":1}', '{"__proto__":1}', many, `{"_meta":${many}}`].map((text) =>
      call(text).replace("tools/call", "tools/list"),
    );
    const initialize = call('{"capabilities":1}').replace("tools/call", "initialize");
    for (const body of [...hostile, ...list, initialize]) {
      const headers = { "content-type": "application/json" };
      const answer = await api.send("POST", "/mcp", { as: member, body, headers });
      expect(answer.status, body).toBe(200);
      expect(answer.body).toMatchObject({ id: 7, error: { code: -32_602 } });
      expect(answer.body.error.message, body).toMatch(/^Invalid parameters: [^\n{}]{5,120}$/);
    }
  });

  test("what is not a message of the protocol is answered 400", async () => {
    for (const json of [[LIST], [], {}, { ...LIST, id: null }, { ...LIST, x: 1 }]) {
      const answer = await send(json);
      expect(answer.status).toBe(400);
      expect(answer.body.slug).toBe("validation-failed");
    }
    const old = await send(LIST, { "mcp-protocol-version": "1999-01-01" });
    expect(old.status).toBe(400);
    expect(old.body.detail).toContain("protocol version");
  });

  test("GET is described as it is answered, and gives browsers the guide, both without a credential", async () => {
    const { document } = await api.contract();
    const { security, responses } = document.paths["/mcp"].get;
    expect(security).toEqual([]);
    expect(Object.keys(responses).filter((status) => status < "500")).toEqual([
      "200",
      "304",
      "405",
    ]);
    expect(Object.keys(responses[200].content)).toEqual(["text/html"]);
    for (const accept of ["text/event-stream", "application/json, text/event-stream", "*/*"]) {
      const answer = await api.send("GET", "/mcp", { headers: { accept } });
      expect([answer.status, answer.body.slug], accept).toEqual([405, "method-not-allowed"]);
      expect(answer.headers.get("allow")).toBe("POST");
    }
    const page = await api.send("GET", "/mcp", { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("<h1");
  });
});
