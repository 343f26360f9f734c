import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { listPages } from "./paging.ts";

const api = await sharedApi();
const email = `auditor-${crypto.randomUUID()}@example.com`;
const { owner, project } = await api.ownedProject({ email });
const path = `/projects/${project.slug}/audit`;
const rename = (name: string, as = owner) =>
  api.send("PATCH", `/projects/${project.slug}`, { as, json: { name } });

const entries = async (from: string): Promise<Json[]> =>
  (await listPages(api, from, owner)).flatMap(({ data }) => data);

describe("GET /projects/{project_reference}/audit", () => {
  test("an owner sees all actions and their actors, newest first, by address and key, and nothing of other projects", async () => {
    const key = await api.key(owner);
    const member = await api.user();
    const put = (role: string, as = owner) =>
      api.send("PUT", `/projects/${project.slug}/members/${member.userId}`, { as, json: { role } });
    // Whom an owner names is invited, and becomes a member by accepting.
    await put("member");
    expect((await put("member", member)).status).toBe(201);
    await put("editor");
    const named = await rename("First", key);
    await api.project(owner);
    const [renamed, changed, added] = (await api.get(path, owner)).body.data;
    expect(renamed).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      action: "project.changed",
      via: "http",
      user: email,
      key_prefix: key.key.split("_").slice(0, 2).join("_"),
      request_id: named.headers.get("x-request-id"),
      details: { name: "First" },
    });
    expect(changed).toMatchObject({
      action: "member.changed",
      user: email,
      key_prefix: null,
      details: { member: member.userId, role: "editor", earlier_role: "member" },
    });
    expect(added).toMatchObject({ action: "member.added", details: { role: "member" } });
    const own = await api.sql`SELECT 1 FROM audit_log WHERE project_id = ${project.id}`;
    expect(await entries(`${path}?limit=2`)).toHaveLength(own.length);
  });

  test("from and to bound the entries", async () => {
    for (let i = 0; i < 4; i++) await rename(`Name ${i}`);
    await api.sql`UPDATE audit_log SET at = '2020-01-01T00:00:00Z'::timestamptz + id * interval '1 hour'
      WHERE project_id = ${project.id}`;
    const dated = await entries(path);
    const [to, from] = [dated[1].at, dated[3].at];
    const some = await entries(`${path}?from=${from}&to=${to}&limit=1`);
    expect(some).toEqual(dated.slice(2, 4));
  });
});
