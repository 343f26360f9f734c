import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LISTED_MAX_BYTES } from "../../src/domain/limits.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addChunks, addFile } from "../../support/content.ts";
import { listPages } from "./paging.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();

async function filledProject(chunks: number): Promise<TestProject> {
  const project = await api.project(member);
  await addFile(sql, project, "a.md", chunks);
  return project;
}

const project = await filledProject(3);
const path = `/projects/${project.slug}/chunks`;

describe("GET /projects/{project_reference}/chunks", () => {
  test("a chunk has its file, its place in the text and its size", async () => {
    const [chunk] = (await api.get(path, await api.key(member, { project }))).body.data;
    expect(chunk).toEqual({
      id: expect.any(String),
      file_path: "a.md",
      file_id: expect.any(String),
      file_version_id: expect.any(String),
      index: 0,
      content: "chunk 0",
      start_offset: 0,
      end_offset: 9,
      token_count: 2,
    });
  });

  test("chunks are in order of file path (byte order), file version and index", async () => {
    const mixed = await api.project(member);
    for (const name of ["b", "a/b", "a", "Z", "é", "a-b", "B"]) await addFile(sql, mixed, name, 2);
    const { body } = await api.get(`/projects/${mixed.slug}/chunks`, member);
    const order = body.data.map((chunk: Json) => `${chunk.file_path} ${chunk.index}`);
    const sorted = ["B", "Z", "a", "a-b", "a/b", "b", "é"].flatMap((name) => [
      `${name} 0`,
      `${name} 1`,
    ]);
    expect(order).toEqual(sorted);
  });

  test("a project without chunks has one empty page", async () => {
    const empty = await api.project(member);
    const own = `/projects/${empty.slug}/chunks`;
    expect((await api.get(own, member)).body).toEqual({
      data: [],
      page_info: { self: own, first: null, next: null, prev: null },
    });
  });

  test("a chunk that exists throughout is listed exactly once, despite inserts and deletes between pages", async () => {
    const name = fc.constantFrom("a", "b", "c", "m", "x", "z", "é");
    const change = fc.oneof(
      fc.record({
        kind: fc.constant("insert" as const),
        path: name,
        count: fc.integer({ min: 1, max: 4 }),
      }),
      fc.record({ kind: fc.constant("delete" as const), pick: fc.nat() }),
    );
    const run = fc.record({
      files: fc.uniqueArray(fc.record({ path: name, count: fc.integer({ min: 1, max: 5 }) }), {
        selector: (file) => file.path,
        minLength: 1,
      }),
      limit: fc.integer({ min: 1, max: 4 }),
      changes: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ files, limit, changes }) => {
        const target = await api.project(member);
        for (const { path: file, count } of files) await addFile(sql, target, file, count);
        const rows = await sql<
          { id: string }[]
        >`SELECT id FROM chunks WHERE project_id = ${target.id}`;
        const staying = new Set(rows.map((row) => row.id));
        const seen: string[] = [];
        let next: string | null = `/projects/${target.slug}/chunks?limit=${limit}`;
        while (next !== null) {
          const { body }: Json = await api.get(next, member);
          seen.push(...body.data.map((chunk: Json) => chunk.id));
          next = body.page_info.next;
          for (const step of changes.shift() ?? []) {
            if (step.kind === "insert") await grow(target, step.path, step.count);
            else await removeOne(target, step.pick, staying);
          }
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect([...staying].filter((id) => !seen.includes(id))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

/** Adds chunks to a file, and the file if it is missing. */
async function grow(target: TestProject, file: string, count: number): Promise<void> {
  const [version] = await sql`
    SELECT v.id, v.file_id, (SELECT coalesce(max(index), -1) FROM chunks WHERE file_version_id = v.id) AS last
    FROM file_versions v JOIN files f ON f.id = v.file_id
    WHERE f.project_id = ${target.id} AND f.path = ${file}`;
  if (version === undefined) {
    await addFile(sql, target, file, count);
    return;
  }
  const { id, file_id, last } = version as { id: string; file_id: string; last: number };
  await addChunks(sql, target, {
    fileId: file_id,
    versionId: id,
    path: file,
    from: last + 1,
    count,
  });
}

async function removeOne(target: TestProject, pick: number, staying: Set<string>): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM chunks WHERE project_id = ${target.id} ORDER BY file_path, file_version_id, index`;
  const victim = rows[pick % Math.max(1, rows.length)];
  if (victim === undefined) return;
  await sql`DELETE FROM chunks WHERE id = ${victim.id}`;
  staying.delete(victim.id);
}

test("pages of long chunks end before they take much memory, and list every chunk once in both directions", async () => {
  const long = await filledProject(3);
  await sql`UPDATE chunks SET content = repeat('x', ${LISTED_MAX_BYTES / 2}) || index
    WHERE project_id = ${long.id}`;
  const indexes = ({ data }: Json) => data.map(({ index }: Json) => index);
  const forward = await listPages(api, `/projects/${long.slug}/chunks?limit=3`, member);
  expect(forward.map(indexes)).toEqual([[0, 1], [2]]);
  const { body: back } = await api.get(forward[1].page_info.prev, member);
  expect([indexes(back), back.page_info.prev]).toEqual([[0, 1], null]);
});
