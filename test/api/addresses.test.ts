import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { FIRST_OWNER } from "../../src/auth/users.ts";
import { type Caller, startApi, type TestApi } from "../../support/api/api.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";

const api = await startApi();
const strict = await startApi({ beside: api, env: { JWT_EMAIL_VERIFIED: "required" } });
const { sql } = api;
const owner = await api.user();
const address = () => `user-${randomUUID()}@example.com`;
const now = Math.floor(Date.now() / 1_000);

/** A token that was issued some seconds ago. */
const stating = (userId: string, email: unknown, claims: object = {}, secondsAgo = 0) =>
  api.token(userId, { email, iat: now - secondsAgo, ...claims });
const verified = (userId: string, email: string, secondsAgo = 0) =>
  stating(userId, email, { email_verified: true }, secondsAgo);

/** The slugs of the projects to which a caller is invited. */
async function invitations(caller: Caller, of: TestApi = api): Promise<string[]> {
  const { body } = await of.get("/invitations", caller);
  return body.data.map(({ project }: { project: { slug: string } }) => project.slug);
}

/** A project to which an address is invited. */
async function inviting(email: string, role = "member") {
  const project = await api.project(owner);
  const path = `/projects/${project.slug}/members/${encodeURIComponent(email)}`;
  expect((await api.send("PUT", path, { as: owner, json: { role } })).status).toBe(201);
  const accept = (as: Caller, name = email, to = api) =>
    to.send("PUT", `/projects/${project.slug}/members/${encodeURIComponent(name)}`, {
      as,
      json: { role },
    });
  return { ...project, accept };
}

async function holder(email: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM users WHERE lower(email) = ${email.toLowerCase()}`;
  return row?.id;
}

async function command(args: readonly string[], stdin = ""): Promise<void> {
  const result = await callCommand(args, { env: { DATABASE_URL: api.databaseUrl }, stdin });
  expect(result.status, result.stderr).toBe(0);
}

describe("an address that the issuer calls unverified", () => {
  test.each([[false], ["false"], [null], [0], ["yes"], [{}]])(
    "identifies nobody, and is not stored, with the claim %p",
    async (claim) => {
      const email = address();
      const project = await inviting(email, "owner");
      const caller = await stating(randomUUID(), email, { email_verified: claim });
      expect(await invitations(caller)).toEqual([]);
      for (const name of [email, caller.userId]) {
        expect((await project.accept(caller, name)).body.slug).toBe("project-not-found");
      }
      const made = await api.post("/projects", { name: "n", slug: `s-${randomUUID()}` }, caller);
      expect(made.body.users[0]).not.toHaveProperty("email");
      expect((await api.post("/api-keys", { name: "k" }, caller)).status).toBe(201);
      expect(await holder(email)).toBeUndefined();
      expect(await invitations(await verified(randomUUID(), email))).toEqual([project.slug]);
    },
  );

  test("is not the user's any longer, for keys and commands either, once it was that of an earlier token", async () => {
    const email = address();
    const project = await inviting(email);
    const first = await verified(randomUUID(), email, 60);
    expect(await invitations(first)).toEqual([project.slug]);
    const key = await api.key(first);
    expect(await invitations(key)).toEqual([project.slug]);
    const later = await stating(first.userId, email, { email_verified: false });
    expect(await invitations(later)).toEqual([]);
    expect(await invitations(key)).toEqual([]);
    expect(await holder(email)).toBeUndefined();
    // Nor does the earlier token bring it back.
    expect(await invitations(first)).toEqual([]);
  });

  test("does not identify by the address that an operator has given, which stays", async () => {
    const email = address();
    const project = await inviting(email);
    const user = await api.user({ email });
    expect(await invitations(user)).toEqual([project.slug]);
    const caller = await stating(user.userId, email, { email_verified: false });
    expect(await invitations(caller)).toEqual([]);
    expect((await project.accept(caller)).status).toBe(404);
    expect(await holder(email)).toBe(user.userId);
  });
});

describe("an address without the claim", () => {
  test("counts as verified, of a user whom nobody has recorded yet, who accepts at once", async () => {
    const email = address();
    const project = await inviting(email);
    const caller = await stating(randomUUID(), email.toUpperCase());
    const accepted = await project.accept(caller);
    expect([accepted.status, accepted.body.id]).toEqual([201, caller.userId]);
  });

  test("is ignored where the claim is required, and one with it is not", async () => {
    const email = address();
    const project = await inviting(email);
    const bare = await stating(randomUUID(), email);
    expect(await invitations(bare, strict)).toEqual([]);
    expect((await project.accept(bare, email, strict)).status).toBe(404);
    expect(await holder(email)).toBeUndefined();
    for (const claim of [true, "true"]) {
      const caller = await stating(randomUUID(), email, { email_verified: claim });
      expect(await invitations(caller, strict)).toEqual([project.slug]);
    }
  });
});

describe("an address of a token", () => {
  test("follows the issuer, and no earlier token brings the old one back", async () => {
    const [old, fresh] = [address(), address()];
    const before = await verified(randomUUID(), old, 60);
    await invitations(before);
    const after = await stating(before.userId, fresh);
    await invitations(after);
    await invitations(before);
    expect([await holder(old), await holder(fresh)]).toEqual([undefined, before.userId]);
    const silent = await api.token(before.userId, {});
    await invitations(silent);
    expect(await holder(fresh)).toBe(before.userId);
  });

  test("is taken back from a user who has it without proof, and commands name the verified user", async () => {
    for (const wrongly of [
      async (email: string) => (await api.user({ email })).userId,
      async (email: string) => {
        const assumed = await stating(randomUUID(), email);
        await invitations(assumed);
        return assumed.userId;
      },
    ]) {
      const email = address();
      const wrong = await wrongly(email);
      expect(await holder(email)).toBe(wrong);
      const project = await inviting(email, "owner");
      // Even by an older token, as the other one has no verification.
      const right = await verified(randomUUID(), email, 60);
      expect(await invitations(right)).toEqual([project.slug]);
      expect(await holder(email)).toBe(right.userId);
      expect(await invitations(await stating(wrong, email))).toEqual([]);
      expect(await holder(email)).toBe(right.userId);
      await command(["keys", "create", "--user", email, "--name", "k"]);
      const [key] = await sql`SELECT user_id FROM api_keys WHERE user_id = ${right.userId}`;
      expect(key).toBeDefined();
      const record = {
        record: "project",
        slug: project.slug,
        name: "n",
        owner: owner.userId,
        members: [{ user: email, role: "editor" }],
      };
      await command(["import", "-"], ndjson([record]));
      expect((await api.get(`/projects/${project.slug}`, right)).status).toBe(200);
      expect((await api.get(`/projects/${project.slug}`, await api.token(wrong))).status).toBe(404);
      await command(["members", "remove", email, "--project", project.slug, "--yes"]);
      expect((await api.get(`/projects/${project.slug}`, right)).status).toBe(404);
    }
  });

  test("of a user who has verified it becomes another's by a newer verification only", async () => {
    const email = address();
    const [one, two] = [randomUUID(), randomUUID()];
    await invitations(await verified(one, email, 60));
    await invitations(await stating(two, email));
    expect(await holder(email)).toBe(one);
    await invitations(await verified(two, email, 120));
    expect(await holder(email)).toBe(one);
    await invitations(await verified(two, email, 30));
    expect(await holder(email)).toBe(two);
    await invitations(await verified(one, email, 60));
    expect(await holder(email)).toBe(two);
  });

  test("is that of one user when several state it at once, and of each when two exchange theirs", async () => {
    const email = address();
    const callers = await Promise.all(
      Array.from({ length: 20 }, () => verified(randomUUID(), email)),
    );
    const answers = await Promise.all(callers.map((caller) => api.get("/invitations", caller)));
    expect(answers.map(({ status }) => status)).toEqual(callers.map(() => 200));
    expect(callers.map(({ userId }) => userId)).toContain((await holder(email)) as string);
    const [one, two] = [randomUUID(), randomUUID()];
    const [a, b] = [address(), address()];
    for (const token of [await verified(one, a, 60), await verified(two, b, 60)]) {
      await invitations(token);
    }
    const exchanged = [await verified(one, b), await verified(two, a)];
    await Promise.all(exchanged.map((caller) => invitations(caller)));
    expect([await holder(a), await holder(b)]).toEqual([two, one]);
  });

  test("is none if it has not the form of one, such as the id of another user", async () => {
    const invited = randomUUID();
    const project = await inviting(invited);
    for (const claim of [invited, `${invited}@`, "a b@example.com", FIRST_OWNER, 7, ""]) {
      const caller = await stating(randomUUID(), claim, { email_verified: true });
      expect(await invitations(caller)).toEqual([]);
      expect((await project.accept(caller, invited)).status).toBe(404);
      const [row] = await sql`SELECT email FROM users WHERE id = ${caller.userId}`;
      expect(row?.["email"]).toBeNull();
    }
  });
});
