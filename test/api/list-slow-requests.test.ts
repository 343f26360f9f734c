import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { base64Of, randomVector } from "../../support/api/versions.ts";

const DIMENSION = 768;
const api = await sharedApi();
const owner = await api.user();
const project = await api.project(owner);
const { report } = importsOf(api, owner);
const embedding = base64Of(randomVector(DIMENSION, 1));
await report(project, [
  PRODUCTION,
  {
    ...{ record: "file", path: "a.md", content: "# Snapshots" },
    ...{ environments: ["production"], releases: ["v1"] },
    chunks: [{ index: 0, content: "Snapshots", embedding }],
  },
]);
const at = `/projects/${project.slug}`;
const path = `${at}/slow-requests`;
const question = { vector: embedding, dimension: DIMENSION };

describe("GET /projects/{project_reference}/slow-requests", () => {
  test("owners and editors see searches, lookups and retrievals with plan, times and place, slowest first", async () => {
    const searched = await api.post(`${at}/environments/production/search`, question, owner);
    const released = await api.post(`${at}/releases/v1/search`, question, owner);
    const lookedUp = await api.post(`${at}/knowledge/lookup`, { query: "secretive zebra" }, owner);
    const retrieved = await api.post(`${at}/retrieve`, { query: "snapshots" }, owner);
    await api.post(`${at}/environments/none/search`, question, owner);
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const { status, body } = await api.get(path, editor);
    expect(status).toBe(200);
    const byId = new Map<string, Json>(body.data.map((each: Json) => [each.request_id, each]));
    const of = (answer: { headers: Headers }) =>
      byId.get(answer.headers.get("x-request-id") as string);
    expect(of(searched)).toEqual({
      at: expect.any(String),
      operation: "searchEnvironment",
      duration_ms: expect.any(Number),
      queue_ms: expect.any(Number),
      ...{ query: null, mode: null },
      plan: searched.headers.get("x-search-plan"),
      ...{ estimates: expect.any(Number), comparisons: expect.any(Number), matches: null },
      ...{ environment: "production", release: null },
      request_id: expect.any(String),
    });
    expect(of(released)).toMatchObject({ environment: null, release: "v1" });
    const none = { plan: null, estimates: null, comparisons: null, environment: "production" };
    expect(of(lookedUp)).toMatchObject({
      ...{ ...none, operation: "lookUpKnowledge", matches: 0 },
      ...{ query: "secretive zebra", mode: "keyword" },
    });
    expect(of(retrieved)).toMatchObject({ ...none, operation: "retrieve", matches: 1 });
    expect(of(retrieved)).toMatchObject({ query: "snapshots", mode: "keyword" });
    expect(body.data).toHaveLength(4);
    const durations = body.data.map((each: Json) => each.duration_ms);
    expect(durations).toEqual(durations.toSorted((a: number, b: number) => b - a));
    const other = await api.project(owner);
    expect((await api.get(`/projects/${other.slug}/slow-requests`, owner)).body.data).toEqual([]);
  });
});
