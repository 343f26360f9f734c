import { expect, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import fc from "fast-check";
import { addressOf, fileResource } from "../../src/api/mcp/resource-uris.ts";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { publishTexts } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { assistantOf } from "./mcp-client.ts";

const FILES = {
  "a b/ä#1?.md": "# Odd path\n\nSnowdrops in the garden.",
  "guide/notes.txt": "As plain text.",
  "guide/snapshots.md": "# Snapshots\n\nHow snowdrops are written to disk.",
};

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(api.sql, project);
await publishTexts(api.sql, project, environment, FILES);
// It has no environment, and so no files.
await api.project(member);
await addRelease(api.sql, project, "v1.0.0");

const assistant = (as: Caller) => assistantOf(api, as);

/** All pages of the list. */
async function allResources(client: Client): Promise<Json[]> {
  const found: Json[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    found.push(...page.resources);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

const textOf = async (client: Client, uri: string) => (await client.readResource({ uri })).contents;
const problemOf = (promise: Promise<unknown>): Promise<Json> =>
  promise.then(
    () => expect.unreachable(),
    (error) => error,
  );

const client = await assistant(member);

test("the files of every project are listed, page after page, and read whole by their URIs", async () => {
  const resources = await allResources(client);
  expect(resources.map(({ name }) => name)).toEqual(Object.keys(FILES));
  expect(resources.map(({ mimeType }) => mimeType)).toEqual([
    ...["text/markdown", "text/plain", "text/markdown"],
  ]);
  expect(resources[2]?.title).toBe("Snapshots");
  for (const { uri, name, mimeType } of resources) {
    const text = FILES[name as keyof typeof FILES];
    expect(await textOf(client, uri)).toEqual([{ uri, mimeType, text }]);
  }
  expect(resources[0]?.uri).toBe(`tessera://${project.slug}/a%20b/%C3%A4%231%3F.md`);
});

test("a template says how the URI of a file is made, and whose project may be its id", async () => {
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "tessera://{project}/{+path}{?environment,release}",
  ]);
  const path = "guide/notes.txt";
  const uris = [`${project.id}/${path}`, `${project.slug}/${path}?environment=production`];
  for (const uri of uris) {
    expect(await textOf(client, `tessera://${uri}`)).toMatchObject([{ text: FILES[path] }]);
  }
  const released = problemOf(textOf(client, `tessera://${project.slug}/${path}?release=v1.0.0`));
  expect((await released).message).toContain("file-not-found");
});

test("results link to the files that they are about, each once, in the scope that was searched", async () => {
  const run = async (name: string, args: Json): Promise<Json> =>
    await client.callTool({ name, arguments: { project_reference: project.slug, ...args } });
  const linked = ({ content }: Json) => content.filter(({ type }: Json) => type !== "text");
  await until(
    "both files are found",
    async () => (await run("lookup", { query: "snowdrops" })).structuredContent.data[1],
  );
  const about = Object.keys(FILES).filter((path) => path.endsWith(".md"));
  for (const [name, args] of [
    ["lookup", { query: "snowdrops" }],
    ["lookup", { query: "snowdrops", lookup_target: { environment: "production" } }],
    ["search", { query: "snowdrops" }],
    ["search", { query: "snowdrops", environment: "production" }],
    ["search", { query: "snowdrops", group_by: "file" }],
  ] as const) {
    const result = await run(name, args);
    const links = linked(result);
    expect(links.map((link: Json) => link.name).sort()).toEqual(about);
    const isScoped = JSON.stringify(args).includes("production");
    for (const { type, uri, name: path } of links) {
      expect(type).toBe("resource_link");
      expect(uri.endsWith("?environment=production")).toBe(isScoped);
      expect(await textOf(client, uri)).toMatchObject([
        { text: FILES[path as keyof typeof FILES] },
      ]);
    }
  }
  expect(linked(await run("list_files", {}))).toEqual([]);
});

test("a URI that names no file, and a cursor of no list, are errors that say so", async () => {
  for (const uri of [
    ...["x", "tessera://", `tessera://${project.slug}`, "https://example.com/a.md"],
    ...[`tessera://${project.slug}/%`, `tessera://${project.slug}/%ff.md`],
  ]) {
    const { code, message } = await problemOf(textOf(client, uri));
    expect([uri, code]).toEqual([uri, -32_002]);
    expect(message).toContain("tessera://{project}/{+path}");
  }
  const missing = await problemOf(textOf(client, `tessera://${project.slug}/none.md`));
  expect(missing).toMatchObject({ code: -32_002 });
  expect(missing.message).toContain("file-not-found");
  const numbered = Buffer.from('{"files":1}').toString("base64url");
  for (const cursor of ["x", "bnVsbA", numbered]) {
    expect(await problemOf(client.listResources({ cursor }))).toMatchObject({ code: -32_602 });
  }
  const forged = Buffer.from('{"files":"x"}').toString("base64url");
  const { message } = await problemOf(client.listResources({ cursor: forged }));
  expect(message).toContain("invalid-cursor");
});

test("a foreign caller is shown no file, and reads none", async () => {
  const uri = `tessera://${project.slug}/guide/notes.txt`;
  for (const { why, caller } of await api.foreigners(project)) {
    const by = await assistant(caller);
    expect(JSON.stringify(await allResources(by)), why).not.toContain(project.slug);
    const { code, message } = await problemOf(textOf(by, uri));
    expect([code, message.includes("project-not-found")], why).toEqual([-32_002, true]);
  }
  const { message } = await problemOf(textOf(await assistant(await api.unpermitted(project)), uri));
  expect(message).toContain("permission-denied");
});

test("every path and scope comes back from its URI", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(
    fc.property(name, name, fc.option(name), (slug, path, release) => {
      const scope: Record<string, string> = release === null ? {} : { release };
      const address = { project: slug, path, scope };
      expect(addressOf(fileResource(address, { path }).uri)).toEqual(address);
    }),
  );
});
