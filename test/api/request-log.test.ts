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

test("at its own level every request is one line with id, operation, status, time and caller, slow ones have another with their stages, and neither has bodies or credentials", async () => {
  const api = await startApiProcess({ env: { LOG_LEVEL: "http", SLOW_REQUEST_MS: "1" } });
  const user = await api.user();
  const key = await api.key(user);
  const project = await api.project(user);
  const environment = await addEnvironment(api.sql, project);
  const chunks = Array.from({ length: 200 }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
  const version = await writeVersion(api.sql, project, "a.md", chunks);
  await attach(api.sql, project, environment.id, [version]);
  await api.get("/projects", key, { "x-request-id": "the-first" });
  await api.get("/projects/nothing?secret=s", key, { "x-request-id": "the-second" });
  const path = `/projects/${project.slug}`;
  const vector = Array.from(randomVector(DIMENSION, 1));
  // The first search waits until the scope is indexed, and the first lookup for its text.
  await api.post(`${path}/environments/production/search`, { vector, dimension: DIMENSION }, key);
  await api.post(`${path}/knowledge/lookup`, { query: "a private question" }, key);
  await api.stop();
  const text = api.server.logs();
  const caller = { userId: key.userId, keyId: key.id, ms: expect.any(Number) };
  expect(linesOf(text, "request").slice(0, 2)).toMatchObject([
    { ...caller, requestId: "the-first", operation: "listProjects", status: 200, level: 25 },
    { ...caller, requestId: "the-second", operation: "getProject", status: 404, level: 25 },
  ]);
  const slow = linesOf(text, "slow request");
  const times = ["waitMs", "parseMs", "searchMs", "rescoreMs", "renderMs"];
  expect(slow.find(({ operation }) => operation === "searchEnvironment")).toMatchObject({
    ...caller,
    status: 200,
    plan: "scan",
    scopeVectors: 200,
    estimates: 200,
    comparisons: expect.any(Number),
    ...Object.fromEntries(times.map((name) => [name, expect.any(Number)])),
  });
  expect(slow.find(({ operation }) => operation === "lookUpKnowledge")).toMatchObject({
    ...caller,
    status: 200,
    lookupMs: expect.any(Number),
    items: expect.any(Number),
  });
  // Without a collector there are no traces.
  for (const hidden of [key.key, "secret=s", "a private question", "trace_id"]) {
    expect(text).not.toContain(hidden);
  }
});
