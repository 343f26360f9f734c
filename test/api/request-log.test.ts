import { expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { startApiProcess } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";

const DIMENSION = 768;

/** The lines of the log with this message. */
function linesOf(logs: string, message: string): Array<Record<string, unknown>> {
  const lines = logs.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);
}

async function logOf(level: string) {
  const api = await startApiProcess({ env: { LOG_LEVEL: level } });
  const key = await api.key(await api.user());
  const found = await api.get("/projects", key, { "x-request-id": "the-first" });
  expect(found.status).toBe(200);
  await api.get("/projects/nothing?secret=s", key, { "x-request-id": "the-second" });
  await api.stop();
  const requests = linesOf(api.server.logs(), "request");
  return { key, requests, text: api.server.logs() };
}

test("at its own level every request is one line with id, operation, status, time and caller", async () => {
  const { key, requests, text } = await logOf("http");
  const caller = { userId: key.userId, keyId: key.id, ms: expect.any(Number), level: 25 };
  expect(requests).toMatchObject([
    { requestId: "the-first", operation: "listProjects", status: 200, ...caller },
    { requestId: "the-second", operation: "getProject", status: 404, ...caller },
  ]);
  expect(text).not.toContain(key.key);
  expect(text).not.toContain("secret=s");
});

test("at the default level requests are not logged", async () => {
  expect((await logOf("info")).requests).toEqual([]);
});

test("slow requests are logged with what they did, without bodies and credentials", async () => {
  const api = await startApiProcess({ env: { LOG_LEVEL: "warn", SLOW_REQUEST_MS: "1" } });
  const user = await api.user();
  const key = await api.key(user);
  const project = await api.project(user);
  const environment = await addEnvironment(api.sql, project);
  const chunks = Array.from({ length: 200 }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
  const version = await writeVersion(api.sql, project, "a.md", chunks);
  await attach(api.sql, project, environment.id, [version]);
  const path = `/projects/${project.slug}`;
  const vector = Array.from(randomVector(DIMENSION, 1));
  // The first search waits until the scope is indexed, and the first lookup for its text.
  await api.post(`${path}/environments/production/search`, { vector, dimension: DIMENSION }, key);
  await api.post(`${path}/knowledge/lookup`, { query: "a private question" }, key);
  const lines = linesOf(api.server.logs(), "slow request");
  const common = { status: 200, ms: expect.any(Number), userId: user.userId, keyId: key.id };
  const times = ["waitMs", "parseMs", "searchMs", "rescoreMs", "renderMs"];
  const searched = lines.find(({ operation }) => operation === "searchEnvironment");
  expect(searched).toMatchObject({
    ...common,
    plan: "scan",
    scopeVectors: 200,
    estimates: 200,
    comparisons: expect.any(Number),
    ...Object.fromEntries(times.map((name) => [name, expect.any(Number)])),
  });
  const lookedUp = lines.find(({ operation }) => operation === "lookUpKnowledge");
  expect(lookedUp).toMatchObject({
    ...common,
    lookupMs: expect.any(Number),
    items: expect.any(Number),
  });
  expect(api.server.logs()).not.toContain("a private question");
  expect(api.server.logs()).not.toContain(key.key);
  await api.stop();
});

test("requests below the bound, and all without one, are not logged as slow", async () => {
  for (const SLOW_REQUEST_MS of ["3600000", "0", undefined]) {
    const api = await startApiProcess({ env: { LOG_LEVEL: "warn", SLOW_REQUEST_MS } });
    await api.get("/projects", await api.user());
    await api.stop();
    expect(linesOf(api.server.logs(), "slow request")).toEqual([]);
  }
});
