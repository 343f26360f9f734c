import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { RECORD_SCHEMAS } from "../../src/content/import/records/schemas.ts";
import { type Caller, sharedApi, type TestProject } from "../../support/api/api.ts";
import {
  allChanged,
  allUnchanged,
  file,
  importsOf,
  PRODUCTION,
} from "../../support/api/imports.ts";
import { addConversation } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const victim = await api.user();
const stranger = await api.user();
const theirs = await api.project(victim);
const { report } = importsOf(api, stranger);

/** Records of each kind that a project may import, with all their ids, and a hook whose id is easy to guess. */
function everything(name: string) {
  const ids = {
    environment: randomUUID(),
    file: randomUUID(),
    version: randomUUID(),
    release: randomUUID(),
    branch: randomUUID(),
    approval: randomUUID(),
    check: randomUUID(),
    conversation: randomUUID(),
    message: randomUUID(),
    request: randomUUID(),
    response: randomUUID(),
    webhook: `hook-${name}`,
  };
  const inBranch = { branch_id: ids.branch };
  const inConversation = { conversation_id: ids.conversation };
  const records = {
    environment: { ...PRODUCTION, id: ids.environment },
    file: file(`${name}.md`, { id: ids.file, version_id: ids.version, content: `text of ${name}` }),
    release: { record: "release", id: ids.release, name, environment: "production" },
    branch: { record: "branch", id: ids.branch, name },
    branch_approval: {
      record: "branch_approval",
      id: ids.approval,
      ...inBranch,
      approved_by: victim.userId,
    },
    status_check: {
      record: "status_check",
      id: ids.check,
      ...inBranch,
      check_name: name,
      status: "success",
    },
    conversation: { record: "conversation", id: ids.conversation, title: name, created_by: name },
    message: { record: "message", id: ids.message, ...inConversation, seq: 1, role: "user" },
    input_request: {
      record: "input_request",
      id: ids.request,
      ...inConversation,
      title: name,
      fields: [],
      latest_response: { id: ids.response, actor_type: "human", actor_id: name, values: {} },
      status: "submitted",
      submitted_at: "2026-01-01T00:00:00.000Z",
    },
    webhook_definition: { record: "webhook_definition", id: ids.webhook, secret: name },
  };
  return { ids, records };
}

const own = everything("secret-plan");
expect(await importsOf(api, victim).report(theirs, Object.values(own.records))).toMatchObject({
  refused: 0,
});

const TABLES = ["environments", "files", "file_versions", "releases", "branches", "conversations"];
async function stateOf({ id }: TestProject): Promise<string> {
  const rows = await Promise.all(
    [...TABLES, "webhook_definitions", "chunks"].map((table) =>
      sql.unsafe(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE project_id = $1 ORDER BY id`, [
        id,
      ]),
    ),
  );
  const inside = ["messages", "input_requests", "input_responses"].map((table) =>
    sql.unsafe(
      `SELECT to_jsonb(t) AS row FROM ${table} t JOIN conversations c ON c.id = t.conversation_id
        WHERE c.project_id = $1 ORDER BY t.id`,
      [id],
    ),
  );
  return JSON.stringify([rows, await Promise.all(inside)]);
}

describe("an import that gives ids of another project", () => {
  test("is tested with every kind of record that a project may import", () => {
    const refused = ["user", "api_key", "project"];
    expect([...Object.keys(own.records), ...refused].sort()).toEqual(
      Object.keys(RECORD_SCHEMAS).sort(),
    );
  });

  test("is told nothing about their project, and changes nothing of it", async () => {
    const before = await stateOf(theirs);
    const mine = await api.project(stranger);
    const { ids, records } = everything("mine");
    await report(mine, Object.values(records));
    const told: string[] = [];
    for (const record of Object.values(records)) {
      // Each id of a record, of itself or of what it refers to, is replaced by each of the other project.
      const text = JSON.stringify(record);
      const given = Object.values(ids).filter((each) => text.includes(each));
      const lines = given.flatMap((id) =>
        Object.values(own.ids).map((foreign) => JSON.parse(text.replaceAll(id, foreign))),
      );
      const { body } = await importsOf(api, stranger).post(mine, lines);
      expect(body.truncated).toBe(false);
      told.push(JSON.stringify(body));
    }
    for (const answer of told) {
      for (const word of [
        theirs.id,
        theirs.slug,
        "secret-plan",
        victim.userId,
        "another project",
      ]) {
        expect(answer).not.toContain(word);
      }
    }
    expect(await stateOf(theirs)).toBe(before);
  });

  test("refers to an unseen row exactly as to a missing one", async () => {
    const mine = await api.project(stranger);
    const { ids, records } = everything("mine");
    const { branch_approval, status_check, message, input_request, webhook_definition } = records;
    const referring = (branch: string, conversation: string) =>
      [
        branch_approval,
        status_check,
        message,
        input_request,
        { ...webhook_definition, conversation_id: ids.conversation },
      ].map((record) =>
        JSON.parse(
          JSON.stringify(record)
            .replaceAll(ids.branch, branch)
            .replaceAll(ids.conversation, conversation),
        ),
      );
    const unknown = await report(mine, referring(randomUUID(), randomUUID()));
    expect(unknown.refused).toBe(5);
    const personal = await addConversation(sql, victim);
    for (const conversation of [own.ids.conversation, personal]) {
      expect(await report(mine, referring(own.ids.branch, conversation))).toEqual(unknown);
    }
  });
});

describe("an import into a project", () => {
  const addressOf = ({ userId }: Caller) => `${userId}@example.com`;

  test("takes records that name the project by slug, by id in either case, or not at all", async () => {
    const project = await api.project(stranger);
    for (const reference of [project.slug, project.id, project.id.toUpperCase(), undefined, null]) {
      const line = { ...PRODUCTION, project: reference };
      expect(await report(project, [line])).toMatchObject({ refused: 0 });
    }
  });

  test("refuses records of another project exactly as those of an unknown one", async () => {
    const before = await stateOf(theirs);
    const mine = await api.project(stranger);
    const { environment, file, release, branch, webhook_definition, conversation } =
      everything("mine").records;
    const message = "project: must be the project of this import";
    for (const reference of [theirs.slug, theirs.id, "unknown-project", randomUUID()]) {
      for (const record of [environment, file, release, branch, webhook_definition]) {
        const { errors } = await report(mine, [{ ...record, project: reference }]);
        expect(errors).toEqual([{ line: 1, message }]);
      }
      const { errors } = await report(mine, [{ ...conversation, project_id: reference }]);
      expect(errors).toEqual([{ line: 1, message: message.replace("project", "project_id") }]);
    }
    expect(await stateOf(theirs)).toBe(before);
  });

  test("refuses users and API keys", async () => {
    const { errors } = await report(await api.project(stranger), [
      { record: "user", email: "new@example.com", name: "New" },
      { record: "api_key", user: addressOf(stranger), name: "k", key: "tsr_x" },
    ]);
    expect(errors).toEqual([
      { line: 1, message: 'record: "user" cannot be imported into a project' },
      { line: 2, message: 'record: "api_key" cannot be imported into a project' },
    ]);
  });

  test("knows the project's members only, so that it cannot be asked who is a user", async () => {
    const project = await api.project(stranger);
    for (const email of [addressOf(victim), "nobody@example.com"]) {
      const line = { record: "conversation", title: "t", created_by: email };
      const { errors } = await report(project, [line]);
      expect(errors).toEqual([{ line: 1, message: `created_by: there is no user "${email}"` }]);
    }
  });

  test("changes the project itself for its owner, and creates no other", async () => {
    const project = await api.project(stranger);
    const own = { record: "project", slug: project.slug, name: "New", owner: stranger.userId };
    expect(await report(project, [own])).toMatchObject({ changed: 1 });
    const refused = [
      { ...own, slug: "brand-new" },
      { ...own, slug: theirs.slug },
      { ...own, id: theirs.id },
      { ...own, members: [{ user: addressOf(victim), role: "owner" }] },
    ];
    expect(await report(project, refused)).toMatchObject({ refused: refused.length });
    const [created] = await sql`SELECT FROM projects WHERE slug = 'brand-new'`;
    expect(created).toBeUndefined();
  });

  test("an editor can neither change the project nor become its owner", async () => {
    const project = await api.project(stranger);
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const record = { record: "project", slug: project.slug, name: "x", owner: addressOf(editor) };
    const { errors } = await report(project, [record], { as: editor });
    expect(errors).toEqual([
      { line: 1, message: "record: only an owner may import the project itself" },
    ]);
    const [row] = await sql`SELECT role FROM memberships WHERE user_id = ${editor.userId}`;
    expect(row?.["role"]).toBe("editor");
  });
});

describe("a webhook whose id another project has", () => {
  const hook = (secret: string) => ({ ...own.records.webhook_definition, secret });
  const send = (secret: string, key: string) =>
    api.send("POST", `/webhooks/${own.ids.webhook}`, {
      headers: { "x-service-webhook-secret": secret, "idempotency-key": key },
      json: { secret },
    });

  test("is imported, repeated, delivered to, listed and exported like any other", async () => {
    const { owner: other, project: mine } = await api.ownedProject();
    const { report } = importsOf(api, other);
    expect(await report(mine, [hook("third")])).toEqual(allChanged(1));
    expect(await report(mine, [hook("third")])).toEqual(allUnchanged(1));
    // The same key in both: one delivery is none of the other.
    for (const [secret, project, member] of [
      ["third", mine, other],
      ["secret-plan", theirs, victim],
    ] as const) {
      const { status, body } = await send(secret, "one");
      expect([status, body.project_id, body.duplicate]).toEqual([200, project.id, false]);
      expect((await send(secret, "one")).body).toMatchObject({
        duplicate: true,
        payload: { secret },
      });
      const { body: listed } = await api.get(`/projects/${project.slug}/webhook-events`, member);
      expect(listed.data.map((event: { webhook_id: string }) => event.webhook_id)).toEqual([
        own.ids.webhook,
      ]);
      const conversation = await api.get(`/conversations/${body.conversation_id}`, member);
      expect(conversation.body.created_by).toBe(`webhook:${own.ids.webhook}`);
      const bearer = await api.send("POST", `/webhooks/${own.ids.webhook}`, {
        as: member,
        json: {},
      });
      expect(bearer.body.project_id).toBe(project.id);
      // Nor do the results differ in what they call the webhook.
      expect(bearer.body.webhook_definition_id).toBe(body.webhook_definition_id);
    }
    expect((await send("neither", "two")).status).toBe(401);
  });

  test("takes a credential for the project that it reaches, and none of a stranger", async () => {
    const member = await api.user();
    const [first, second] = [await api.project(member), await api.project(member)];
    const { report } = importsOf(api, member);
    for (const project of [first, second]) await report(project, [hook(`of ${project.id}`)]);
    const deliver = (as: Caller) =>
      api.send("POST", `/webhooks/${own.ids.webhook}`, { as, json: {} });
    for (const project of [first, second]) {
      const { status, body } = await deliver(await api.key(member, { project }));
      expect([status, body.project_id]).toEqual([200, project.id]);
    }
    expect((await deliver(await api.user())).status).toBe(401);
  });
});
