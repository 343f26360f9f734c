import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../support/api/imports.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user();
const { report, working } = importsOf(api, owner);

/** A project with a frozen release of one file. */
async function withRelease(): Promise<TestProject> {
  const project = await api.project(owner);
  const release = { record: "release", name: "v1", environment: "production" };
  await report(project, [PRODUCTION, file("a.md"), release]);
  return project;
}

describe("a line after a refused one of the same batch is stored, which gives", () => {
  const IN_RELEASE = { releases: ["v1"] };
  test.each([
    ["the same key to other contents", "a.md", { version_key: "k" }, { version_key: "k" }],
    ["another id to the same file", "b.md", { id: randomUUID() }, { id: randomUUID() }],
    ["the same id to another version", "a.md", { version_id: "ID" }, { version_id: "ID" }],
  ])("%s", async (_, path, refused, stored) => {
    const project = await withRelease();
    const id = randomUUID();
    const line = (more: object) =>
      JSON.parse(JSON.stringify(file(path, more)).replaceAll("ID", id)) as object;
    const lines = [
      line({ ...refused, content: "x", chunks: [], ...IN_RELEASE }),
      line({ ...stored, content: "y", chunks: [] }),
    ];
    expect(await report(project, lines)).toMatchObject({
      changed: 1,
      refused: 1,
      errors: [{ line: 1, message: expect.stringContaining('"v1" is frozen') }],
    });
    expect(await working(project)).toContain(path);
    const [served] = await sql`
      SELECT v.content FROM environment_files w JOIN file_versions v ON v.id = w.file_version_id
      JOIN files f ON f.id = w.file_id WHERE w.project_id = ${project.id} AND f.path = ${path}`;
    expect(served).toEqual({ content: "y" });
  });
});

describe("two lines of one row are in one import as in two:", () => {
  const response = (value: number) => ({ actor_id: "somebody", values: { value } });
  const asked = (conversation_id: string) => ({
    record: "input_request",
    id: conversation_id,
    conversation_id,
  });
  const answered = (id: string, value: number) => ({
    ...asked(id),
    status: "submitted",
    latest_response: response(value),
  });
  const conversation = (id: string, more: object = {}) => ({
    record: "conversation",
    id,
    created_by: "somebody",
    ...more,
  });
  const pairs: Readonly<Record<string, (id: string) => readonly [object, object, object]>> = {
    "a count of messages never decreases": (id) => [
      conversation(id, { message_count: 10 }),
      conversation(id, { message_count: 5 }),
      { message_count: 10 },
    ],
    "an answered request is not opened again": (id) => [
      answered(id, 1),
      { ...asked(id), status: "open" },
      { status: "submitted" },
    ],
    "the first answer stays": (id) => [answered(id, 1), answered(id, 2), { answer: '{"value":1}' }],
    "the later title stays": (id) => [
      conversation(id, { title: "a" }),
      conversation(id, { title: "b" }),
      { title: "b" },
    ],
  };

  test.each(Object.keys(pairs))("%s", async (name) => {
    for (const imports of [1, 2]) {
      const project = await api.project(owner);
      const id = randomUUID();
      await report(project, [conversation(id)]);
      const pair = pairs[name] as (typeof pairs)[string];
      const [first, second, left] = pair(id);
      if (imports === 1) await report(project, [first, second]);
      else for (const line of [first, second]) await report(project, [line]);
      const [row] = await sql`
        SELECT c.message_count, c.title, q.status, r.values::text AS answer FROM conversations c
        LEFT JOIN input_requests q ON q.conversation_id = c.id
        LEFT JOIN input_responses r ON r.input_request_id = q.id WHERE c.id = ${id}`;
      expect(row, `${imports}`).toMatchObject(left);
    }
  });
});
