import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { randomVector } from "../../support/api/versions.ts";
import { addFile } from "../../support/content.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
await addFile(api.sql, project, "a.md", 2);
const [first, second] = await api.sql<{ id: string }[]>`
  SELECT id FROM chunks WHERE project_id = ${project.id} ORDER BY index`;
const vector = randomVector(DIMENSION, 1);
const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
await api.sql`UPDATE chunks SET dimension = ${DIMENSION}, embedding = ${bytes} WHERE id = ${first!.id}`;
const pathOf = (id: string) => `/projects/${project.slug}/chunks/${id}/embedding`;

describe("GET /projects/{project_reference}/chunks/{chunk_id}/embedding", () => {
  test("a member reads the vector exactly as it is stored", async () => {
    const { status, body } = await api.get(pathOf(first!.id), member);
    expect(status).toBe(200);
    const vector = bytes.toString("base64");
    expect(body).toEqual({ chunk_id: first!.id, dimension: DIMENSION, vector });
  });

  test("a chunk without a vector is not found", async () => {
    const { status, body } = await api.get(pathOf(second!.id), member);
    expect([status, body.slug]).toEqual([404, "chunk-not-found"]);
  });
});
