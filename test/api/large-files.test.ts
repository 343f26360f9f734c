import { describe, expect, test } from "bun:test";
import { LARGE_BODY_BYTES } from "../../src/domain/limits.ts";
import { type Answer, type Caller, sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { sql } = api;

async function ownerWithProject() {
  const { owner, project } = await api.ownedProject();
  await importsOf(api, owner).post(project, [{ record: "environment", name: "production" }]);
  return { owner, project };
}

let made = 0;
const large = () => `- an item of ${made++}\n`.repeat(LARGE_BODY_BYTES / 14);
const put = (
  as: Caller,
  project: TestProject,
  body: string | Uint8Array<ArrayBuffer> = large(),
  headers: Record<string, string> = {},
): Promise<Answer> => api.putText(as, project, "list.md", body, headers);

/** How many large files are being stored that wait for another transaction. */
async function storing(): Promise<number> {
  const rows = await sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'tessera-writes' AND wait_event_type = 'Lock'`;
  return rows.length;
}

describe("a large file", () => {
  test("is stored, compared and refused as any other", async () => {
    const { owner, project } = await ownerWithProject();
    const text = large();
    const first = await put(owner, project, text);
    expect([first.status, first.body.size]).toEqual([201, text.length]);
    expect(first.body.chunk_count).toBeGreaterThan(10);
    const again = await put(owner, project, text, { "if-match": first.headers.get("etag") ?? "" });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await put(owner, project, large(), { "if-none-match": "*" })).status).toBe(412);
    const { body: read } = await api.get(`/projects/${project.slug}/files/list.md`, owner);
    expect(read.content).toBe(text);
    const broken = await put(owner, project, new Uint8Array(LARGE_BODY_BYTES).fill(0xff));
    expect([broken.status, broken.body.errors[0].field]).toEqual([400, "body"]);
    expect(broken.body.detail).toContain("list.md is not valid UTF-8 at byte 0");
    await sql`UPDATE projects SET max_bytes = 1000 WHERE id = ${project.id}`;
    const refused = await put(owner, project);
    expect([refused.status, refused.body.slug]).toEqual([409, "quota-exceeded"]);
    expect(refused.body.detail).toContain("1000 bytes");
    const stranger = await api.user();
    expect((await put(stranger, project)).status).toBe(404);
  });

  test("is read and stored by another thread than that of all requests", async () => {
    const [one, other] = [await ownerWithProject(), await ownerWithProject()];
    const second = await api.project(one.owner);
    await importsOf(api, one.owner).post(second, [{ record: "environment", name: "production" }]);
    await put(one.owner, one.project);
    let running: Promise<Answer> | undefined;
    await sql.begin(async (tx) => {
      await tx`SELECT FROM environment_files WHERE project_id = ${one.project.id} FOR UPDATE`;
      running = put(one.owner, one.project);
      await until("the large file waits for the lock", async () => (await storing()) === 1);
      // Others of the same user and of another one pass.
      expect((await put(one.owner, second, "# Small")).status).toBe(201);
      expect((await put(other.owner, other.project)).status).toBe(201);
    });
    expect((await running)?.status).toBe(200);
  });
});
