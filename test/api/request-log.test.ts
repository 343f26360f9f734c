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

/** What a service with these settings logs of two requests. */
async function logOf(env: Record<string, string>) {
  const api = await startApiProcess({ env });
  const key = await api.key(await api.user());
  const found = await api.get("/projects", key, { "x-request-id": "the-first" });
  expect(found.status).toBe(200);
  await api.get("/projects/nothing?secret=s", key, { "x-request-id": "the-second" });
  await api.stop();
  const text = api.server.logs();
  return { key, text, requests: linesOf(text, "request"), slow: linesOf(text, "slow request") };
}

test("at its own level every request is one line with id, operation, status, time and caller, and those below the bound no second one", async () => {
  const { key, requests, slow, text } = await logOf({
    LOG_LEVEL: "http",
    SLOW_REQUEST_MS: "3600000",
  });
  const caller = { userId: key.userId, keyId: key.id, ms: expect.any(Number), level: 25 };
  expect(requests).toMatchObject([
    { requestId: "the-first", operation: "listProjects", status: 200, ...caller },
    { requestId: "the-second", operation: "getProject", status: 404, ...caller },
  ]);
  expect(slow).toEqual([]);
  expect(text).not.toContain(key.key);
  expect(text).not.toContain("secret=s");
  // Without a collector there are no traces.
  expect(text).not.toContain("trace_id");
});

test("at the default level requests are not logged, and slow ones neither without a bound", async () => {
  const { requests, slow } = await logOf({ LOG_LEVEL: "info" });
  expect([requests, slow]).toEqual([[], []]);
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
