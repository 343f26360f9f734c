import { describe, expect, test } from "bun:test";
import { LISTED_MAX_BYTES } from "../../src/shared/limits.ts";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { listPages } from "./paging.ts";

const api = await sharedApi();

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
