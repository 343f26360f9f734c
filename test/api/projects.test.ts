import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { LISTED_MAX_BYTES } from "../../src/domain/limits.ts";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { listPages } from "./paging.ts";

const api = await sharedApi();
const member = await api.user();

/** The slugs of each page. */
const pages = async (from: string, as: Caller): Promise<string[][]> =>
  (await listPages(api, from, as)).map(({ data }) => data.map(({ slug }: Json) => slug));

async function owner(...slugs: string[]): Promise<Caller> {
  const caller = await api.user();
  for (const slug of slugs) await api.project(caller, { slug });
  return caller;
}

describe("GET /projects", () => {
  test("callers see the projects that they are members of, in order of slug, and no others", async () => {
    const ada = await owner("list-c", "list-a", "list-b");
    const grace = await owner("list-d");
    const [shared] = await api.sql<{ id: string; slug: string }[]>`
      SELECT id, slug FROM projects WHERE slug = 'list-b'`;
    await api.join(grace, shared as never);
    expect(await pages("/projects", ada)).toEqual([["list-a", "list-b", "list-c"]]);
    expect(await pages("/projects", grace)).toEqual([["list-b", "list-d"]]);
    expect((await api.get("/projects", await api.token())).body.data).toEqual([]);
  });

  test("every project is complete, with its environments, releases and members", async () => {
    const caller = await api.user({ email: "complete@example.com" });
    const project = await api.project(caller, { slug: "complete" });
    const { id: environment } = await addEnvironment(api.sql, project, "production");
    const { id: release } = await addRelease(api.sql, project, "v1");
    await api.sql`UPDATE environments SET active_release_id = ${release} WHERE id = ${environment}`;
    const whole = (await api.get(`/projects/${project.slug}`, caller)).body;
    expect(whole).toMatchObject({
      environments: [{ id: environment, active_release_id: release }],
      releases: [{ id: release, name: "v1", build_status: "pending" }],
      users: [{ id: caller.userId, email: "complete@example.com", role: "owner" }],
    });
    expect((await api.get("/projects", caller)).body).toEqual({
      data: [whole],
      page_info: { self: "/projects", first: null, next: null, prev: null },
    });
  });

  test("a page ends early when configurations are long, and the next one goes on behind it", async () => {
    const slugs = Array.from({ length: 5 }, (_, i) => `long-${i}`);
    const caller = await owner(...slugs);
    await api.sql`UPDATE projects
      SET config = jsonb_build_object('text', repeat('x', ${LISTED_MAX_BYTES / 2})) WHERE slug LIKE 'long-%'`;
    await api.sql`UPDATE projects
      SET config = jsonb_build_object('text', repeat('x', ${LISTED_MAX_BYTES + 1})) WHERE slug = 'long-3'`;
    const found = await pages("/projects", caller);
    expect(found).toEqual([["long-0", "long-1"], ["long-2", "long-3"], ["long-4"]]);
    const first = (await api.get("/projects", caller)).body;
    const second = (await api.get(first.page_info.next, caller)).body;
    const back = (await api.get(second.page_info.prev, caller)).body;
    expect(back.data.map(({ slug }: Json) => slug)).toEqual(["long-0", "long-1"]);
  });

  test("a key that is bound to a project lists that project alone", async () => {
    const caller = await owner("unbound");
    const project = await api.project(caller, { slug: "bound" });
    expect(await pages("/projects", await api.key(caller, { project }))).toEqual([["bound"]]);
    expect(await pages("/projects", await api.key(caller))).toEqual([["bound", "unbound"]]);
  });
});

describe("GET /projects/{project_reference}", () => {
  test("a created project is read back at its Location exactly as it was answered", async () => {
    const body = { name: "Read back", slug: "read-back", description: "Again." };
    const created = await api.post("/projects", body, member);
    expect(created.headers.get("location")).toBe("/projects/read-back");
    const read = await api.get("/projects/read-back", member);
    expect(read.body).toEqual(created.body);
  });

  test("the newest releases come first, and owners before other members", async () => {
    const busy = await api.project(member);
    const colleague = await api.user();
    await api.sql`UPDATE memberships SET created_at = now() + interval '1 hour'
      WHERE project_id = ${busy.id}`;
    await api.join(colleague, busy, "editor");
    await api.sql`INSERT INTO releases (id, project_id, name, created_at)
      SELECT gen_random_uuid(), ${busy.id}, 'v' || i, now() + make_interval(mins => i)
      FROM generate_series(1, 3) i`;
    const { body } = await api.get(`/projects/${busy.slug}`, member);
    expect(body.releases.map(({ name }: { name: string }) => name)).toEqual(["v3", "v2", "v1"]);
    expect(body.users.map(({ role }: { role: string }) => role)).toEqual(["owner", "editor"]);
  });

  test("a project with many environments names the first thousand, and their list has all", async () => {
    const wide = await api.project(member);
    await api.sql`INSERT INTO environments (id, project_id, name)
      SELECT gen_random_uuid(), ${wide.id}, 'e' || lpad(i::text, 4, '0') FROM generate_series(0, 1000) i`;
    const { body } = await api.get(`/projects/${wide.slug}`, member);
    const names = body.environments.map(({ name }: { name: string }) => name);
    expect([names.length, names[0], names.at(-1)]).toEqual([1_000, "e0000", "e0999"]);
    const { body: list } = await api.get(`/projects/${wide.slug}/environments?limit=100`, member);
    expect([list.data.length, list.page_info.next === null]).toEqual([100, false]);
  });
});

const named = await api.project(member);
const path = `/projects/${named.slug}`;
const update = (json: unknown, as = member) => api.send("PATCH", path, { as, json });

describe("PATCH /projects/{project_reference}", () => {
  test("an owner changes name and description, and absent fields stay", async () => {
    const before = (await api.get(path, member)).body;
    const renamed = await update({ name: "New name", description: "What it is." });
    expect(renamed.status).toBe(200);
    const { updated_at, ...rest } = renamed.body;
    expect(rest).toEqual({
      ...before,
      updated_at: undefined,
      name: "New name",
      description: "What it is.",
    });
    expect(updated_at > before.updated_at).toBe(true);
    const described = await update({ description: "" });
    expect(described.body).toMatchObject({ name: "New name", description: "" });
    expect((await api.get(path, member)).body).toEqual(described.body);
  });

  test("what is unchanged changes nothing", async () => {
    const { body } = await update({ name: "Same" });
    for (const json of [{ name: "Same" }, {}, { slug: "other", unknown: 1 }]) {
      expect((await update(json)).body).toEqual(body);
    }
    const entries = await api.sql`
      SELECT user_id, details FROM audit_log
      WHERE project_id = ${named.id} AND action = 'project.changed' AND details->>'name' = 'Same'`;
    expect([...entries]).toEqual([{ user_id: member.userId, details: { name: "Same" } }]);
  });

  test("a text that is stored while the project gets an embedder is embedded", async () => {
    const own = await api.project(member);
    const [file, version] = [randomUUID(), randomUUID()];
    const { status } = await beforeCommit(
      api.sql,
      async (tx) => {
        await tx`INSERT INTO files (id, project_id, path) VALUES (${file}, ${own.id}, 'a.md')`;
        await tx`
          INSERT INTO file_versions (id, project_id, file_id, version_key, content, title)
          VALUES (${version}, ${own.id}, ${file}, 'v1', 'A text.', 'a')`;
        // The project has no embedder yet, so the row is not stored.
        await tx`
          INSERT INTO embedding_queue (file_version_id, project_id) VALUES (${version}, ${own.id})`;
      },
      () =>
        api.send("PATCH", `/projects/${own.slug}`, { as: member, json: { embedder: "hashing" } }),
    );
    expect(status).toBe(200);
    const [row] = await api.sql`
      SELECT EXISTS (SELECT FROM embedding_queue WHERE file_version_id = ${version})
        OR EXISTS (SELECT FROM chunks WHERE file_version_id = ${version}) AS embedded`;
    expect(row).toEqual({ embedded: true });
  });
});
