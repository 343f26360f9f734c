import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { randomVector } from "../../support/api/versions.ts";
import { addFile } from "../../support/content.ts";

const DIMENSION = 768;
const api = await sharedApi();
const member = await api.user();
const project = await api.project(member);
await addFile(api.sql, project, "a.md", 2);
const [first, second] = await api.sql<{ id: string }[]>`
  SELECT id FROM chunks WHERE project_id = ${project.id} ORDER BY index`;
const vector = randomVector(DIMENSION, 1);
const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
await api.sql`UPDATE chunks SET dimension = ${DIMENSION}, embedding = ${bytes} WHERE id = ${first!.id}`;
const pathOf = (id: string, reference = project.slug) =>
  `/projects/${reference}/chunks/${id}/embedding`;
const path = pathOf(first!.id);

describe("GET /projects/{project_reference}/chunks/{chunk_id}/embedding", () => {
  test("a member reads the vector exactly as it is stored, by ids in either case", async () => {
    for (const at of [path, pathOf(first!.id.toUpperCase(), project.id.toUpperCase())]) {
      const { status, body } = await api.get(at, member);
      expect(status).toBe(200);
      const expected = {
        chunk_id: first!.id,
        dimension: DIMENSION,
        vector: bytes.toString("base64"),
      };
      expect(body).toEqual(expected);
    }
  });

  test("an unchanged vector is answered 304 to its tag", async () => {
    const tag = (await api.get(path, member)).headers.get("etag") as string;
    expect((await api.get(path, member, { "if-none-match": tag })).status).toBe(304);
  });

  test("a chunk without a vector, an unknown one and one of another project are not found", async () => {
    const other = await api.project(member);
    const paths = [pathOf(second!.id), pathOf(randomUUID()), pathOf(first!.id, other.slug)];
    for (const at of paths) {
      const answer = await api.get(at, member);
      expect(answer.status, at).toBe(404);
      expect(answer.body.slug).toBe("chunk-not-found");
    }
  });

  test("a chunk id that is not a UUID is refused by name", async () => {
    const answer = await api.get(pathOf("none"), member);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].field).toBe("chunk_id");
  });
});
