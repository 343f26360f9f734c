import { expect, test } from "bun:test";
import { join } from "node:path";
import { Tessera, TesseraError, type TesseraOptions } from "../../client/src/index.ts";
import { clientTypes } from "../../scripts/openapi-types.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  attach,
  chunkOf,
  publishTexts,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const ROOT = join(import.meta.dir, "../..");
const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member, { slug: "handbook" });
const environment = await addEnvironment(sql, project, "production");
const { key } = await api.key(member);
const client = new Tessera({ baseUrl: api.url, credential: key });
const query = randomVector(DIMENSION, 1);
const version = await sql.begin((tx) =>
  writeVersion(tx as never, project, "chunks.txt", [chunkOf(query), chunkOf(query)]),
);
await attach(sql, project, environment.id, [version]);
await publishTexts(sql, project, environment, { "a.md": "# Snapshots", "b.md": "# Webhooks" });
await until(
  "both files are found",
  async () => (await client.lookUpKnowledge("handbook")).total_matches === 2,
);

/** A client whose service answers as scripted, and the requests that it has received. */
function scripted(answers: Array<Response | Error>, options: Partial<TesseraOptions> = {}) {
  const requests: RequestInit[] = [];
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    requests.push(init);
    const answer = answers.shift() ?? Response.json({});
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const made = new Tessera({ baseUrl: "http://x", credential: "k", fetch, ...options });
  return { client: made, requests };
}

const problem = (status: number, slug: string, retryAfter = "0") =>
  new Response(JSON.stringify({ type: slug, title: slug, status, slug }), {
    status,
    headers: { "content-type": "application/problem+json", "retry-after": retryAfter },
  });

test("every operation of the document has a method", async () => {
  const { document } = await api.contract();
  const ids = Object.values<Json>(document.paths).flatMap((methods) =>
    Object.values<Json>(methods).map(({ operationId }) => operationId),
  );
  // The service opens no stream for clients of the Model Context Protocol: they are always answered 405.
  expect(ids.filter((id) => !(id in client))).toEqual(["openMcpStream"]);
});

test("the types are those of the document", async () => {
  const { document } = await api.contract();
  const types = await Bun.file(join(ROOT, "client/src/types.ts")).text();
  expect(types).toBe(await clientTypes(document));
});

test("a search finds the chunks", async () => {
  const found = await client.searchEnvironment("handbook", "production", query, { limit: 1 });
  expect(found.data[0]?.score).toBeCloseTo(1, 5);
  const near = await client.retrieve("handbook", { vector: query, limit: 1 });
  expect(near.data).toMatchObject([{ match_type: "semantic", chunk: { file_path: "chunks.txt" } }]);
});

test("an iterator reads all pages of a list", async () => {
  const paths = await Array.fromAsync(client.allKnowledge("handbook", { limit: 1 }));
  expect(paths.map(({ path }) => path)).toEqual(["a.md", "b.md"]);
  expect(await Array.fromAsync(client.allChunks("handbook", { limit: 1 }))).toHaveLength(2);
  expect(await Array.fromAsync(client.allProjects())).toHaveLength(1);
  const question = { query: "snapshots webhooks", limit: 1 };
  const hits = await Array.fromAsync(client.allRetrieved("handbook", question));
  expect(hits.map(({ file }) => file?.path).sort()).toEqual(["a.md", "b.md"]);
  const found = await Array.fromAsync(client.allRetrievedFiles("handbook", question));
  expect(found.map(({ file }) => file.path).sort()).toEqual(["a.md", "b.md"]);
  expect((await client.retrieveFiles("handbook", question)).data[0]?.hits).toHaveLength(1);
});

test("an import, a new key and its end are carried out", async () => {
  const line = JSON.stringify({ record: "environment", name: "staging" });
  expect((await client.importRecords("handbook", line)).changed).toBe(1);
  const made = await client.createApiKey({ name: "laptop" });
  expect((await client.getApiKey(made.id)).name).toBe("laptop");
  expect(await client.revokeApiKey(made.id)).toBeUndefined();
});

test("files are written, read, released and removed, a stale version is refused, and a project ends", async () => {
  const { files } = client;
  const notes = await api.project(member);
  await addEnvironment(sql, notes, "production");
  const { id, version_id: first } = await files.put(notes.slug, "notes/a b.md", "# One");
  const { version_id: second } = await files.put(notes.slug, "notes/a b.md", "# Two", {
    ifMatch: first,
  });
  const stale = await files
    .put(notes.slug, "notes/a b.md", "# Three", { ifMatch: first })
    .catch((error: unknown) => error);
  expect(stale).toMatchObject({ status: 412, slug: "precondition-failed" });
  const listed = await Array.fromAsync(files.all(notes.slug, { pathPrefix: "notes/", limit: 1 }));
  expect(listed).toMatchObject([{ id, version_id: second }]);
  expect((await files.get(notes.slug, id)).content).toBe("# Two");
  const release = await client.createRelease(notes.slug, { name: "v1", environment: "production" });
  await files.delete(notes.slug, "notes/a b.md", { ifMatch: second });
  expect((await files.list(notes.slug, { pathPrefix: "notes/" })).data).toEqual([]);
  const active = { active_release: release.name };
  const served = await client.updateEnvironment(notes.slug, "production", active);
  expect(served.active_release_id).toBe(release.id);
  expect((await files.get(notes.slug, "notes/a b.md")).version_id).toBe(second);
  const copied = { name: "a copy", contents_of: { release: "v1" } };
  expect((await client.createEnvironment(notes.slug, copied)).name).toBe("a copy");
  await client.deleteEnvironment(notes.slug, "a copy");
  await client.updateEnvironment(notes.slug, "production", { active_release: null });
  await client.deleteRelease(notes.slug, "v1");
  const hook = await client.createWebhook(notes.slug, { id: "a/b" });
  expect((await client.deliverWebhook("a/b", {}, { secret: hook.secret! })).duplicate).toBe(false);
  expect(await Array.fromAsync(client.allWebhooks(notes.slug))).toMatchObject([{ id: "a/b" }]);
  await client.deleteWebhook(notes.slug, "a/b");
  expect((await client.updateProject(notes.slug, { name: "Notes" })).name).toBe("Notes");
  await client.deleteProject(notes.slug, notes.slug);
  expect(await client.getProject(notes.slug).catch(({ status }) => status)).toBe(404);
});

test("a problem is an error with its status and slug", async () => {
  const error = await client.getProject("a/b").catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TesseraError);
  expect([error.status, error.slug]).toEqual([404, "project-not-found"]);
});

test("an overloaded service is asked again, not before Retry-After", async () => {
  const { client: retried, requests } = scripted([problem(503, "overloaded", "1")]);
  const startedAt = performance.now();
  await retried.createProject({ name: "A", slug: "a" });
  expect(requests).toHaveLength(2);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
});

test("what may have created something is not repeated when the answer is lost", async () => {
  const lost = scripted([new TypeError("connection lost")]);
  await expect(lost.client.createProject({ name: "A", slug: "a" })).rejects.toThrow("lost");
  expect(lost.requests).toHaveLength(1);
  const away = scripted([problem(503, "dependency-unavailable")]);
  await expect(away.client.createApiKey({ name: "a" })).rejects.toThrow(TesseraError);
  expect(away.requests).toHaveLength(1);
});

test("all retries of a delivery have one idempotency key", async () => {
  const { client: retried, requests } = scripted([
    new TypeError("lost"),
    problem(503, "overloaded"),
  ]);
  await retried.deliverWebhook("w", { a: 1 });
  const keys = requests.map(({ headers }) => new Headers(headers).get("idempotency-key"));
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test("requests to a project carry the routing key of its last answer, and those to others do not", async () => {
  const routed = Response.json({ data: [] }, { headers: { "x-routing-key": "an id" } });
  const { client: made, requests } = scripted([routed]);
  await made.lookUpKnowledge("handbook");
  await made.lookUpKnowledge("handbook");
  await made.lookUpKnowledge("other");
  const keys = requests.map(({ headers }) => new Headers(headers).get("x-routing-key"));
  expect(keys).toEqual([null, "an id", null]);
});
