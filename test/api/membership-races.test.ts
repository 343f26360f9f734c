import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Transaction } from "../../src/db/client.ts";
import { lockMembers } from "../../src/db/project-lock.ts";
import { type Caller, sharedApi, type TestProject } from "../../support/api/api.ts";
import { ndjson } from "../../support/ndjson.ts";
import { openTransaction } from "../../support/open-transaction.ts";
import { callCommand } from "../../support/processes/command.ts";

const api = await sharedApi();
const { sql } = api;

/** A project with two owners, one of whom has invited a user. */
async function world() {
  const [owner, inviter, user] = [await api.user(), await api.user(), await api.user()];
  const project = await api.project(owner);
  await api.join(inviter, project, "owner");
  const path = (of: Caller) => `/projects/${project.id}/members/${of.userId}`;
  const put = (as: Caller, of: Caller, role = "member") =>
    api.send("PUT", path(of), { as, json: { role } });
  const remove = (of: Caller) => api.send("DELETE", path(of), { as: owner });
  const accept = () => put(user, user);
  expect((await put(inviter, user)).status).toBe(201);
  return { owner, inviter, user, project, put, remove, accept };
}

async function roleOf(project: TestProject, user: Caller): Promise<string | undefined> {
  const [row] = await sql<{ role: string }[]>`
    SELECT role FROM memberships WHERE project_id = ${project.id} AND user_id = ${user.userId}`;
  return row?.role;
}

const open = (project: TestProject) =>
  sql`SELECT invitee FROM invitations WHERE project_id = ${project.id}`;

const invitationOf = (tx: Transaction, project: TestProject, user: Caller) =>
  tx`SELECT FROM invitations WHERE project_id = ${project.id} AND invitee = ${user.userId} FOR UPDATE`;

const setRole = (tx: Transaction, project: TestProject, user: Caller, role: string) => tx`
  UPDATE memberships SET role = ${role}
  WHERE project_id = ${project.id} AND user_id = ${user.userId}`;

describe("an acceptance", () => {
  test("that begins while the inviter is demoted is refused after it", async () => {
    const { inviter, user, project, accept } = await world();
    const demotion = await openTransaction(sql, async (tx) => {
      await lockMembers(tx, project.id);
      await setRole(tx, project, inviter, "editor");
    });
    const accepting = accept();
    await demotion.awaitedBy(1);
    await demotion.commit();
    expect((await accepting).body.slug).toBe("project-not-found");
    expect(await roleOf(project, user)).toBeUndefined();
  });

  test("that begins while the inviter is demoted by an import, which locks no more than it changes, is refused too", async () => {
    const { inviter, user, project, accept } = await world();
    const demotion = await openTransaction(sql, (tx) => setRole(tx, project, inviter, "editor"));
    const accepting = accept();
    await demotion.awaitedBy(1);
    await demotion.commit();
    expect((await accepting).body.slug).toBe("project-not-found");
    expect(await roleOf(project, user)).toBeUndefined();
  });

  test("that came first counts, although its inviter is demoted before it is answered", async () => {
    const { inviter, user, project, put, accept, owner } = await world();
    const pause = await openTransaction(sql, (tx) => invitationOf(tx, project, user));
    const accepting = accept();
    await pause.awaitedBy(1);
    const demoting = put(owner, inviter, "editor");
    await pause.awaitedBy(2);
    await pause.commit();
    expect([(await accepting).status, (await demoting).status]).toEqual([201, 200]);
    expect(await roleOf(project, user)).toBe("member");
  });

  test("that came before a removal is undone by it, and one that comes after finds no invitation", async () => {
    const { user, project, remove, accept } = await world();
    const pause = await openTransaction(sql, (tx) => invitationOf(tx, project, user));
    const accepting = accept();
    await pause.awaitedBy(1);
    const removing = remove(user);
    await pause.awaitedBy(2);
    await pause.commit();
    expect([(await accepting).status, (await removing).status]).toEqual([201, 204]);
    expect(await roleOf(project, user)).toBeUndefined();
    const again = await world();
    const removal = await openTransaction(sql, async (tx) => {
      await lockMembers(tx, again.project.id);
      await tx`INSERT INTO memberships (project_id, user_id, role)
        VALUES (${again.project.id}, ${again.user.userId}, 'member')`;
      await tx`DELETE FROM memberships
        WHERE project_id = ${again.project.id} AND user_id = ${again.user.userId}`;
    });
    const late = again.accept();
    await removal.awaitedBy(1);
    await removal.commit();
    expect((await late).body.slug).toBe("project-not-found");
    expect(await open(again.project)).toHaveLength(0);
  });

  test("that comes twice at once makes one member, and both are told so", async () => {
    const { user, project, accept } = await world();
    const pause = await openTransaction(sql, (tx) => lockMembers(tx, project.id));
    const accepting = [accept(), accept()];
    await pause.awaitedBy(2);
    await pause.commit();
    const answers = await Promise.all(accepting);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
    for (const { body } of answers) expect(body).toMatchObject({ id: user.userId, role: "member" });
    expect(await roleOf(project, user)).toBe("member");
    expect(await open(project)).toHaveLength(0);
  });

  test("of one of two roles at once with the other ends with the first", async () => {
    const email = `user-${randomUUID()}@example.com`;
    const { owner, project } = await world();
    const user = await api.user({ email });
    const put = (as: Caller, name: string, role: string) =>
      api.send("PUT", `/projects/${project.id}/members/${encodeURIComponent(name)}`, {
        as,
        json: { role },
      });
    await put(owner, user.userId, "member");
    await put(owner, email, "editor");
    const pause = await openTransaction(sql, (tx) => lockMembers(tx, project.id));
    const accepting = [put(user, email, "editor"), put(user, email, "member")];
    await pause.awaitedBy(2);
    await pause.commit();
    const answers = await Promise.all(accepting);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    const accepted = answers.find(({ status }) => status === 201);
    expect(await roleOf(project, user)).toBe(accepted?.body.role);
  });
});

describe("an invitation", () => {
  test("by an owner whom an import demotes at the same time is refused", async () => {
    const { inviter, project, put } = await world();
    const before = await open(project);
    const demotion = await openTransaction(sql, (tx) => setRole(tx, project, inviter, "editor"));
    const inviting = put(inviter, await api.user());
    await demotion.awaitedBy(1);
    await demotion.commit();
    expect((await inviting).body.slug).toBe("permission-denied");
    expect(before).toHaveLength(1);
    expect(await open(project)).toHaveLength(0);
  });

  test("that is stored before its inviter is demoted by an import ends with that", async () => {
    const { owner, inviter, project } = await world();
    const invitee = randomUUID();
    const inviting = await openTransaction(sql, async (tx) => {
      await tx`SELECT FROM memberships WHERE project_id = ${project.id}
        AND user_id = ${inviter.userId} FOR SHARE`;
      await tx`INSERT INTO invitations (project_id, invitee, role, invited_by)
        VALUES (${project.id}, ${invitee}, 'member', ${inviter.userId})`;
    });
    const email = `user-${randomUUID()}@example.com`;
    await sql`UPDATE users SET email = ${email} WHERE id = ${inviter.userId}`;
    const record = {
      record: "project",
      slug: project.slug,
      name: "A project",
      owner: owner.userId,
      members: [{ user: email, role: "editor" }],
    };
    const demoting = callCommand(["import", "-"], {
      env: { DATABASE_URL: api.databaseUrl },
      stdin: ndjson([record]),
    });
    await inviting.awaitedBy(1);
    await inviting.commit();
    expect(await demoting).toMatchObject({ status: 0 });
    expect(await roleOf(project, inviter)).toBe("editor");
    expect(await open(project)).toHaveLength(0);
  });
});

describe("an address", () => {
  const address = () => `user-${randomUUID()}@example.com`;
  const stating = (userId: string, email: string, secondsAgo: number) =>
    api.token(userId, { email, iat: Math.floor(Date.now() / 1_000) - secondsAgo });
  const addressOf = async (userId: string) => {
    const [row] = await sql<
      { email: string | null }[]
    >`SELECT email FROM users WHERE id = ${userId}`;
    return row?.email;
  };

  test("of an older token does not replace that of a newer one which is recorded at the same time", async () => {
    const user = await api.user();
    const [old, fresh] = [address(), address()];
    const newer = await openTransaction(
      sql,
      (tx) => tx`SELECT FROM users WHERE id = ${user.userId} FOR NO KEY UPDATE`,
    );
    const older = api.get("/invitations", await stating(user.userId, old, 60));
    await newer.awaitedBy(1);
    await newer.commit(
      (tx) => tx`
        UPDATE users SET email = ${fresh}, email_stated_at = now() WHERE id = ${user.userId}`,
    );
    expect((await older).status).toBe(200);
    expect(await addressOf(user.userId)).toBe(fresh);
  });

  test("that another user is given at the same time, by an operator, is taken from that user", async () => {
    const [user, other] = [randomUUID(), randomUUID()];
    const email = address();
    const giving = await openTransaction(
      sql,
      (tx) => tx`
      INSERT INTO users (id, email) VALUES (${other}, ${email})`,
    );
    const stated = api.get("/invitations", await stating(user, email, 0));
    await giving.awaitedBy(1);
    await giving.commit();
    expect((await stated).status).toBe(200);
    expect([await addressOf(user), await addressOf(other)]).toEqual([email, null]);
  });
});
