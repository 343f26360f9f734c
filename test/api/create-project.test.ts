import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Queryable } from "../../src/db/client.ts";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addFile } from "../../support/content.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const { sql } = api;
const user = await api.user();
const newSlug = () => `p-${randomUUID()}`;

async function projectCount(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM projects`;
  return row?.count ?? 0;
}

describe("POST /projects", () => {
  test("a new project has one environment and the caller as owner", async () => {
    const slug = newSlug();
    const answer = await api.post("/projects", { name: "Handbook", slug, description: "d" }, user);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      slug,
      name: "Handbook",
      description: "d",
      is_claimed: true,
      features: [],
      environments: [
        {
          id: expect.any(String),
          name: "production",
          protected: false,
          domains: [],
          environment_variables: [],
        },
      ],
      releases: [],
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
      prompt_count: 0,
      config: {},
      provider: null,
      layout: null,
      users: [
        {
          id: user.userId,
          email: `${user.userId}@example.com`,
          name: "Somebody",
          role: "owner",
          avatar_src: "",
        },
      ],
    });
    expect((await api.get(`/projects/${slug}/chunks`, user)).status).toBe(200);
    const stranger = await api.user();
    expect((await api.get(`/projects/${slug}/chunks`, stranger)).status).toBe(404);
  });

  test("a project created by API key belongs to the key's user", async () => {
    const slug = newSlug();
    const key = await api.key(user, { scopes: ["projects.create"] });
    const { body } = await api.post("/projects", { name: "n", slug }, key);
    expect(body.users[0].id).toBe(user.userId);
    expect(body).not.toHaveProperty("description");
    expect(body).not.toHaveProperty("published_at");
  });

  test("a user known only by a token is created, without the email address if another user has verified it", async () => {
    const email = `${randomUUID()}@example.com`;
    const first = await api.token(randomUUID(), { email, email_verified: true, name: "Ada" });
    const slug = newSlug();
    const made = await api.post("/projects", { name: "n", slug }, first);
    expect(made.body.users).toEqual([
      { id: first.userId, email, name: "Ada", role: "owner", avatar_src: "" },
    ]);
    const second = await api.token(randomUUID(), { email: email.toUpperCase(), name: "Eve\0" });
    const other = await api.post("/projects", { name: "n", slug: newSlug() }, second);
    expect(other.status).toBe(201);
    expect(other.body.users).toEqual([
      { id: second.userId, name: "Eve", role: "owner", avatar_src: "" },
    ]);
  });

  test("what a token claims and cannot be stored is left out", async () => {
    const caller = await api.token(randomUUID(), {
      name: "A\0da \ud83d",
      email: "a\ud83d@b.example",
    });
    const { status, body } = await api.post("/projects", { name: "N", slug: newSlug() }, caller);
    expect([status, body.users[0].name, body.users[0].email]).toEqual([
      201,
      "Ada \ufffd",
      undefined,
    ]);
  });

  test("a taken slug returns 409 and creates nothing", async () => {
    const slug = newSlug();
    await api.post("/projects", { name: "n", slug }, user);
    const before = await projectCount();
    const answer = await api.post("/projects", { name: "n", slug }, await api.user());
    expect(answer.status).toBe(409);
    expect(answer.body.slug).toBe("project-slug-taken");
    expect(await projectCount()).toBe(before);
  });

  test("of concurrent requests for one slug, one succeeds and the others return 409", async () => {
    const slug = newSlug();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.post("/projects", { name: "n", slug }, user)),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([201, ...Array(7).fill(409)]);
  });

  test("an API key bound to a project cannot create projects", async () => {
    const key = await api.key(user, { project: await api.project(user) });
    const answer = await api.post("/projects", { name: "n", slug: newSlug() }, key);
    expect(answer.status).toBe(403);
    expect(answer.body.slug).toBe("permission-denied");
  });

  test("an invalid project request returns 400, names the field and creates nothing", async () => {
    const before = await projectCount();
    const wrong: Array<[Json, string]> = [
      [{ name: null, slug: "a" }, "name"],
      [{ name: "n", slug: "Upper" }, "slug"],
      [{ name: "n", slug: "1a" }, "slug"],
      [{ name: "n", slug: "a--b" }, "slug"],
      [{ name: "n", slug: "a-" }, "slug"],
      [{ name: "n", slug: "a\n" }, "slug"],
      [null, "body"],
    ];
    for (const [json, field] of wrong) {
      const answer = await api.post("/projects", json, user);
      expect(answer.status, JSON.stringify(json)).toBe(400);
      expect(answer.body.slug).toBe("validation-failed");
      expect(answer.body.errors.map((error: Json) => error.field)).toContain(field);
    }
    expect(await projectCount()).toBe(before);
  });

  test("null in an optional field counts as absent, and unknown fields are ignored", async () => {
    const json = { name: "n", slug: newSlug(), description: null, templateSlug: null, odd: 1 };
    const headers = { "content-type": "application/json" };
    // Null is accepted but not documented, so the body bypasses the contract check.
    const body = JSON.stringify(json);
    const answer = await api.send("POST", "/projects", { as: user, body, headers });
    expect(answer.status).toBe(201);
    expect(answer.body).not.toHaveProperty("description");
  });

  describe("a project with a template", () => {
    test("a template's config, features, environments and working sets are copied, but not its releases", async () => {
      const template = await api.project(user);
      const config = { branch_protection: { required_approvals: 3 } };
      await sql`
        UPDATE projects SET config = ${sql.json(config)}, features = ${["search", "lookup"]},
          provider = 'github', layout = 'flat' WHERE id = ${template.id}`;
      const first = await addFile(sql, template, "a.md", 2);
      const second = await addFile(sql, template, "b.md", 1);
      await addFile(sql, template, "in no working set.md", 1);
      const release = randomUUID();
      await sql`INSERT INTO releases (id, project_id, name) VALUES (${release}, ${template.id}, 'v1')`;
      for (const [name, file] of [
        ["production", first],
        ["staging", second],
      ] as const) {
        const id = randomUUID();
        await sql`
          INSERT INTO environments (id, project_id, name, protected, domains,
            environment_variables, server_hostname)
          VALUES (${id}, ${template.id}, ${name}, true, ${[`${name}.example.com`]},
            ${sql.json([{ name: "A", value: "1" }])}, 'host')`;
        await sql`
          INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
          VALUES (${template.id}, ${id}, ${file.fileId}, ${file.versionId})`;
      }

      const json = { name: "Copy", slug: newSlug(), templateSlug: template.slug };
      const { status, body } = await api.post("/projects", json, user);
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: "Copy", config, features: ["search", "lookup"] });
      expect(body).toMatchObject({ provider: "github", layout: "flat", releases: [] });
      const expected = (name: string) => ({
        id: expect.any(String),
        name,
        protected: true,
        domains: [`${name}.example.com`],
        environment_variables: [{ name: "A", value: "1" }],
        server_hostname: "host",
      });
      expect(body.environments).toEqual([expected("production"), expected("staging")]);

      const copies = (await api.get(`/projects/${body.id}/chunks`, user)).body.data;
      const originals = (await api.get(`/projects/${template.id}/chunks`, user)).body.data;
      const contents = (list: Json) => list.map((chunk: Json) => [chunk.file_path, chunk.content]);
      expect(contents(copies)).toEqual(contents(originals).slice(0, 3));
      const ids = new Set(originals.flatMap((chunk: Json) => [chunk.id, chunk.file_id]));
      for (const chunk of copies) expect(ids.has(chunk.id) || ids.has(chunk.file_id)).toBe(false);
      const sets = await sql`
        SELECT e.name, f.path FROM environment_files w JOIN environments e ON e.id = w.environment_id
        JOIN files f ON f.id = w.file_id WHERE w.project_id = ${body.id} ORDER BY e.name`;
      expect([...sets]).toEqual([
        { name: "production", path: "a.md" },
        { name: "staging", path: "b.md" },
      ]);
    });

    test("an environment that serves a release is copied with the contents of that release", async () => {
      const template = await api.project(user);
      const released = await addFile(sql, template, "released.md", 2);
      const drafted = await addFile(sql, template, "drafted.md", 1);
      const release = await addRelease(sql, template, "v1");
      await sql`SELECT fill_release(${release.id}, ${[released.versionId]}::uuid[])`;
      for (const [name, active] of [
        ["production", release.id],
        ["staging", null],
      ] as const) {
        const { id: environment } = await addEnvironment(sql, template, name);
        await sql`
          INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
          VALUES (${template.id}, ${environment}, ${drafted.fileId}, ${drafted.versionId})`;
        await sql`UPDATE environments SET active_release_id = ${active} WHERE id = ${environment}`;
      }
      const json = { name: "Copy", slug: newSlug(), templateProjectId: template.id };
      const { status, body } = await api.post("/projects", json, user);
      expect([status, body.releases]).toEqual([201, []]);
      for (const { active_release_id } of body.environments)
        expect(active_release_id).toBeUndefined();
      const sets = await sql`
        SELECT e.name, f.path FROM environment_files w JOIN environments e ON e.id = w.environment_id
        JOIN files f ON f.id = w.file_id WHERE w.project_id = ${body.id} ORDER BY e.name`;
      expect([...sets]).toEqual([
        { name: "production", path: "released.md" },
        { name: "staging", path: "drafted.md" },
      ]);
      expect((await api.get(`/projects/${body.id}/chunks`, user)).body.data).toHaveLength(3);
    });

    test("a copy has one state of a template that changes meanwhile", async () => {
      const template = await api.project(user);
      const { id: environment } = await addEnvironment(sql, template);
      const put = (on: Queryable, { fileId, versionId }: Awaited<ReturnType<typeof addFile>>) => on`
        INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
        VALUES (${template.id}, ${environment}, ${fileId}, ${versionId})`;
      await put(sql, await addFile(sql, template, "first.md", 1));
      const later = await addFile(sql, template, "later.md", 1);
      const { status, body } = await beforeCommit(
        sql,
        // The copy has read its template when it begins to store files.
        async (tx) => {
          await tx`LOCK TABLE files IN EXCLUSIVE MODE`;
          await put(tx, later);
        },
        () =>
          api.post(
            "/projects",
            { name: "Copy", slug: newSlug(), templateProjectId: template.id },
            user,
          ),
      );
      expect(status).toBe(201);
      const files = await sql`SELECT path FROM files WHERE project_id = ${body.id}`;
      expect([...files]).toEqual([{ path: "first.md" }]);
    });

    test("a template may be given by id and slug, and returns 400 when they disagree", async () => {
      const [one, two] = [await api.project(user), await api.project(user)];
      const base = { name: "n", slug: newSlug() };
      const both = { ...base, templateProjectId: one.id.toUpperCase(), templateSlug: one.slug };
      expect((await api.post("/projects", both, user)).status).toBe(201);
      const json = {
        name: "n",
        slug: newSlug(),
        templateProjectId: one.id,
        templateSlug: two.slug,
      };
      const answer = await api.post("/projects", json, user);
      expect(answer.status).toBe(400);
      expect(answer.body.errors[0].field).toBe("templateSlug");
    });

    test("an unknown and a foreign template return the same 404", async () => {
      const foreign = await api.project(await api.user());
      const templates = [
        { templateSlug: foreign.slug },
        { templateProjectId: foreign.id },
        { templateSlug: newSlug() },
        { templateProjectId: randomUUID() },
        { templateProjectId: (await api.project(user)).id, templateSlug: foreign.slug },
      ];
      const details = new Set<string>();
      for (const template of templates) {
        const answer = await api.post(
          "/projects",
          { name: "n", slug: newSlug(), ...template },
          user,
        );
        expect(answer.status).toBe(404);
        expect(answer.body.slug).toBe("project-not-found");
        details.add(answer.body.detail);
      }
      expect(details.size).toBe(1);
    });
  });
});
