import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { removeMember } from "../../src/platform/members/service.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const owner = await api.user({ email: `owner-${randomUUID()}@example.com` });
const project = await api.project(owner);
const address = () => `user-${randomUUID()}@example.com`;

const listOf = (of: TestProject) => `/projects/${of.slug}/members`;
const pathOf = (of: TestProject, user: string) => `${listOf(of)}/${encodeURIComponent(user)}`;
const put = (of: TestProject, user: string, role: unknown, as = owner) =>
  api.send("PUT", pathOf(of, user), { as, json: { role } });
const remove = (of: TestProject, user: string, as = owner) =>
  api.send("DELETE", pathOf(of, user), { as });

describe("GET /projects/{project_reference}/members", () => {
  test("members see all members with address, name, role and time, owners first, by address", async () => {
    const own = await api.project(owner);
    const [b, a] = [`b-${address()}`, `a-${address()}`];
    const [second, first] = [await api.user({ email: b }), await api.user({ email: a })];
    const nameless = await api.token(randomUUID());
    await api.sql`INSERT INTO users (id) VALUES (${nameless.userId})`;
    await api.join(second, own);
    await api.join(first, own, "editor");
    await api.join(nameless, own, "guest");
    const { status, body } = await api.get(listOf(own), second);
    expect(status).toBe(200);
    const others: Json[] = body.data.slice(1);
    expect(body.data[0]).toMatchObject({ id: owner.userId, role: "owner" });
    expect(others.filter(({ email }) => email !== undefined)).toMatchObject([
      { id: first.userId, email: a, role: "editor" },
      { id: second.userId, email: b, role: "member" },
    ]);
    const bare = others.find(({ id }) => id === nameless.userId);
    expect(Object.keys(bare)).toEqual(["id", "name", "role", "since"]);
    expect(Math.abs(Date.parse(bare.since) - Date.now())).toBeLessThan(60_000);
  });
});

describe("PUT /projects/{project_reference}/members/{user_id}", () => {
  test("a user whom an owner invites by address or id accepts and is a member, whose role changes, as the audit log names", async () => {
    const email = address();
    const user = await api.user({ email });
    const invited = await put(project, email.toUpperCase(), "editor");
    expect([invited.status, invited.body.status]).toEqual([201, "invited"]);
    expect((await api.get(`/projects/${project.slug}`, user)).status).toBe(404);
    const { data } = (await api.get("/invitations", user)).body;
    expect(data).toMatchObject([
      { project: { id: project.id, slug: project.slug }, user: email, role: "editor" },
    ]);
    expect((await put(project, email, "owner", user)).body.errors[0].field).toBe("role");
    const added = await put(project, email, "editor", user);
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({ id: user.userId, email, role: "editor", status: "member" });
    expect((await api.get("/invitations", user)).body.data).toEqual([]);
    expect((await api.get(`/projects/${project.slug}`, user)).status).toBe(200);
    const changed = await put(project, user.userId, "member");
    expect([changed.status, changed.body]).toEqual([200, { ...added.body, role: "member" }]);
    expect((await put(project, user.userId, "member")).body).toEqual(changed.body);
    const entries = await api.sql`
      SELECT action, user_id, via, details FROM audit_log
      WHERE project_id = ${project.id} AND details->>'member' = ${user.userId} ORDER BY id`;
    const by = { user_id: owner.userId, via: "http" };
    const member = user.userId;
    expect([...entries]).toEqual([
      {
        ...by,
        user_id: member,
        action: "member.added",
        details: { member, role: "editor", invited_by: owner.userId },
      },
      {
        ...by,
        action: "member.changed",
        details: { member, role: "member", earlier_role: "editor" },
      },
    ] as never);
  });

  test("the answer is the same for every id and address, and nobody becomes a member without accepting", async () => {
    const own = await api.project(owner);
    const email = address();
    const user = await api.user({ email });
    const answers = [];
    for (const named of [email, address(), user.userId, randomUUID()]) {
      for (let time = 0; time < 2; time++) {
        const { status, body } = await put(own, named, "owner");
        expect(body).toEqual({ user: named, role: "owner", status: "invited", since: body.since });
        answers.push(status);
      }
    }
    expect(new Set(answers)).toEqual(new Set([201]));
    const { body } = await api.get(listOf(own), owner);
    expect([body.data.length, body.invited.length]).toEqual([1, 4]);
    for (const named of [email, user.userId]) {
      expect((await remove(own, named)).status).toBe(204);
    }
    expect((await api.get("/invitations", user)).body.data).toEqual([]);
    expect((await put(own, email, "owner", user)).body.slug).toBe("project-not-found");
  });

  test("an invitation is accepted or declined by whom it names, and by nobody else", async () => {
    const own = await api.project(owner);
    const [email, other] = [address(), address()];
    const [user, stranger] = [await api.user({ email }), await api.user({ email: other })];
    await put(own, email, "member");
    for (const named of [email, other, user.userId, stranger.userId]) {
      expect((await put(own, named, "member", stranger)).body.slug).toBe("project-not-found");
      expect((await remove(own, named, stranger)).body.slug).toBe("project-not-found");
    }
    const bound = await api.key(user, { project: await api.project(user) });
    expect((await put(own, email, "member", bound)).body.slug).toBe("project-not-found");
    expect((await api.get("/invitations", bound)).body.data).toEqual([]);
    expect((await remove(own, user.userId, user)).status).toBe(204);
    expect((await put(own, email, "member", user)).body.slug).toBe("project-not-found");
    await put(own, email, "member");
    await api.sql`UPDATE invitations SET created_at = now() - interval '31 days'`;
    expect((await put(own, email, "member", user)).body.slug).toBe("project-not-found");
  });

  test("of two invitations, by id and by address, both are listed, and the role says which is accepted", async () => {
    const email = address();
    const user = await api.user({ email });
    for (const [named, role] of [
      [user.userId, "editor"],
      [email, "member"],
      [user.userId, "member"],
      [email, "editor"],
    ] as const) {
      const own = await api.project(owner);
      await put(own, user.userId, "member");
      await put(own, email, "editor");
      const { data } = (await api.get("/invitations", user)).body;
      const offered = data.map((each: Json) => [each.project.slug, each.user, each.role]);
      expect(offered.toSorted()).toEqual(
        [
          [own.slug, user.userId, "member"],
          [own.slug, email, "editor"],
        ].toSorted(),
      );
      const { body } = await put(own, named, "owner", user);
      expect(body.errors[0].message).toBe("must be editor or member, as in the invitation");
      const accepted = await put(own, named, role, user);
      expect([accepted.status, accepted.body.role]).toEqual([201, role]);
      expect((await api.get(listOf(own), owner)).body.invited).toEqual([]);
    }
    const declined = await api.project(owner);
    for (const named of [email, user.userId]) await put(declined, named, "member");
    expect((await remove(declined, email, user)).status).toBe(204);
    expect((await api.get("/invitations", user)).body.data).toEqual([]);
  });

  test("a project keeps its newest 500 invitations", async () => {
    const own = await api.project(owner);
    await api.sql`
      INSERT INTO invitations (project_id, invitee, role, invited_by, created_at)
      SELECT ${own.id}, n || '@example.com', 'member', ${owner.userId}, now() - make_interval(mins => n)
      FROM generate_series(1, 500) n`;
    const newest = address();
    await put(own, newest, "member");
    const { invited } = (await api.get(listOf(own), owner)).body;
    const users = invited.map(({ user }: Json) => user);
    expect(users).toHaveLength(500);
    expect(users).toContain(newest);
    expect(users).not.toContain("500@example.com");
  });

  test("an invitation of an address that becomes a member's is listed neither to owners nor to the member", async () => {
    const own = await api.project(owner);
    const [email, user] = [address(), await api.user()];
    await put(own, email, "owner");
    await api.join(user, own);
    const stated = await api.token(user.userId, { email });
    expect((await api.get("/invitations", stated)).body.data).toEqual([]);
    expect((await put(own, email, "owner", stated)).body.slug).toBe("permission-denied");
    const { body } = await api.get(listOf(own), owner);
    expect(body.data.map((member: Json) => member.email)).toContain(email);
    expect(body.invited).toEqual([]);
  });

  test("what names nobody and roles that are none are 400 by name", async () => {
    const nobody = await put(project, "nobody", "member");
    expect([nobody.status, nobody.body.errors[0].field]).toEqual([400, "user_id"]);
    for (const role of ["guest", 1, undefined]) {
      const { status, body } = await put(project, owner.userId, role);
      expect([status, body.errors[0].field]).toEqual([400, "role"]);
    }
    const { status, body } = await put(project, "x".repeat(256), "member");
    expect([status, body.errors[0].field]).toEqual([400, "user_id"]);
  });

  test("the last owner keeps the role until another user has it", async () => {
    const own = await api.project(owner);
    const other = await api.user();
    const refused = await put(own, owner.userId, "editor");
    expect([refused.status, refused.body.slug]).toEqual([409, "last-owner"]);
    await put(own, other.userId, "owner");
    expect((await put(own, owner.userId, "editor")).body.slug).toBe("last-owner");
    await put(own, other.userId, "owner", other);
    expect((await put(own, owner.userId, "editor")).status).toBe(200);
    expect((await put(own, owner.userId, "owner")).body.slug).toBe("permission-denied");
  });
});

describe("GET /invitations", () => {
  test("invitations of somebody with many projects do not push out those of others", async () => {
    const [user, flooder] = [await api.user(), await api.user()];
    const own = await api.project(owner);
    await put(own, user.userId, "member");
    await api.sql`
      WITH made AS (
        INSERT INTO projects (id, slug, name)
        SELECT gen_random_uuid(), 'flood-' || n, 'flood' FROM generate_series(1, 120) n RETURNING id)
      INSERT INTO invitations (project_id, invitee, role, invited_by)
      SELECT id, ${user.userId}, 'member', ${flooder.userId} FROM made`;
    const { data } = (await api.get("/invitations", user)).body;
    expect(data).toHaveLength(100);
    expect(data.map(({ project: { slug } }: Json) => slug)).toContain(own.slug);
    await api.sql`DELETE FROM projects WHERE slug LIKE 'flood-%'`;
  });
});

describe("DELETE /projects/{project_reference}/members/{user_id}", () => {
  test("an owner who is removed meanwhile changes nothing", async () => {
    const own = await api.project(owner);
    const leaving = await api.user();
    await api.join(leaving, own, "owner");
    const answer = await beforeCommit(
      api.sql,
      (tx) => removeMember(tx, own.id, leaving.userId),
      () => put(own, address(), "member", leaving),
    );
    expect([answer.status, answer.body.slug]).toEqual([404, "project-not-found"]);
    expect((await api.get(listOf(own), owner)).body.invited).toEqual([]);
  });

  test("the last owner cannot leave", async () => {
    const refused = await remove(project, owner.userId);
    expect([refused.status, refused.body.slug]).toEqual([409, "last-owner"]);
  });
});
