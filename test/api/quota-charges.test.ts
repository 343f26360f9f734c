import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { purgeFiles } from "../../src/content/projects/contents.ts";
import { setQuotas } from "../../src/content/projects/quota.ts";
import type { Transaction } from "../../src/db/client.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { callCommand } from "../../support/processes/command.ts";
import { countedIn, storedIn, tablesOfProjects } from "../../support/quotas.ts";
import { until } from "../../support/until.ts";
import { addWritableProject, sendWrite, WRITES } from "./project-writes.ts";

/** Tables with rows of projects that are not charged, with the reason. */
const UNCHARGED: Readonly<Record<string, string>> = {
  memberships: "has one row for a user, who is asked before",
  invitations: "has a bounded number of rows for each project",
  ...Object.fromEntries(
    ["change_log", "change_pending", "index_state", "parked_tasks"].map((name) => [
      name,
      "is of the service, which prunes it",
    ]),
  ),
  ...Object.fromEntries(
    ["embedding_queue", "embedding_rebuilds", "embedding_failures", "rebuild_requests"].map(
      (name) => [name, "is of the service, until chunks have their embeddings"],
    ),
  ),
  question_days: "has one row for a day",
  questions: "has a bounded number of rows for each day",
  ...Object.fromEntries(
    ["quota_usage", "quota_deltas", "quota_reservations"].map((name) => [name, "counts"]),
  ),
};

/** Texts of charged rows that quotas do not count: names, and the columns of the project itself. */
const SHORT_TEXTS = [
  ...["api_keys.key_hash", "api_keys.key_prefix", "api_keys.scopes"],
  ...["audit_log.action", "audit_log.request_id", "audit_log.via", "chunks.embedder"],
  ...["conversations.created_by", "conversations.status", "conversations.type"],
  ...["file_versions.given_embeddings", "input_requests.kind"],
  ...["input_requests.requested_responder_type", "input_requests.status"],
  ...["input_responses.actor_type", "messages.role", "messages.status"],
  ...[
    "projects.embedder",
    "projects.layout",
    "projects.name",
    "projects.provider",
    "projects.slug",
  ],
  ...["releases.build_status", "releases.deploy_status", "releases.export_status"],
  ...["runs.status", "status_checks.status", "webhook_definitions.id"],
  ...["webhook_definitions.secret_hash", "webhook_events.error_code"],
  ...["webhook_events.error_message", "webhook_events.fingerprint", "webhook_events.invoked_by"],
  ...["webhook_events.status", "webhook_events.webhook_definition_id"],
];

const api = await sharedApi();
const { sql } = api;
const email = `charged-${randomUUID()}@example.com`;
const owner = await api.user({ email });
const { post, report } = importsOf(api, owner);

/** The charged tables that a change has added to. */
const added = new Set<string>();

/** Runs a change, which charges the project for exactly that by which its tables differ. */
async function charges<T>({ id }: { readonly id: string }, change: () => Promise<T>): Promise<T> {
  const [counted, stored] = [await countedIn(sql, id), await storedIn(sql, id)];
  const result = await change();
  const [countedNow, storedNow] = [await countedIn(sql, id), await storedIn(sql, id)];
  const grown = (now: typeof counted, before: typeof counted) => ({
    files: now.files - before.files,
    bytes: now.bytes - before.bytes,
    chunks: now.chunks - before.chunks,
  });
  expect(grown(countedNow, counted)).toEqual(grown(storedNow.usage, stored.usage));
  for (const [i, { name, rows }] of storedNow.tables.entries()) {
    if (rows > (stored.tables[i]?.rows as number)) added.add(name);
  }
  return result;
}

/** Records of all kinds that belong to a project, with texts of this length. */
function records(length: number) {
  const text = "x".repeat(length);
  const conversation = "6f1c2a3e-0b4d-4c5e-8f60-7a8b9c0d1e2f".replace(/^.{8}/, unique);
  const branch = { id: conversation.replace("4c5e", "4c5f"), name: "main" };
  return [
    { record: "project", slug: "", description: text, features: [text], config: { text } },
    { record: "environment", name: "production", environment_variables: [{ name: text }] },
    { record: "file", path: "b.md", environments: ["production"], content: `# B\n\n${text}` },
    { record: "release", name: `v${length}`, environment: "production" },
    { record: "branch", ...branch },
    { record: "branch_approval", branch_id: branch.id, approved_by: owner.userId, comment: text },
    {
      record: "status_check",
      branch_id: branch.id,
      check_name: "a",
      status: "success",
      description: text,
    },
    { record: "conversation", id: conversation, created_by: "somebody", summary: text },
    { record: "message", conversation_id: conversation, seq: 1, role: "user", parts: [{ text }] },
    { record: "input_request", conversation_id: conversation, id: branch.id, description: text },
    { record: "webhook_definition", id: "deploys", secret: text },
  ];
}
const unique = randomUUID().slice(0, 8);

describe("a project is charged for each row of its own,", () => {
  test("in all tables but the exceptions", async () => {
    const tables = await tablesOfProjects(sql);
    const uncharged = tables.filter(({ charged }) => !charged).map(({ name }) => name);
    expect(uncharged).toEqual(Object.keys(UNCHARGED).sort());
  });

  test("and for all of its texts but short ones", async () => {
    const columns = await sql<{ name: string }[]>`
      SELECT concat(c.relname, '.', a.attname) AS name
      FROM pg_class c JOIN pg_attribute s ON s.attrelid = c.oid AND s.attname = 'stored_bytes'
      JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = s.attnum
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relkind = 'r' AND a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'json'::regtype,
          'jsonb'::regtype, 'bytea'::regtype)
        AND pg_get_expr(d.adbin, d.adrelid) !~ ('\\m' || a.attname || '\\M') ORDER BY 1`;
    expect(columns.map(({ name }) => name)).toEqual(SHORT_TEXTS);
  });

  test("by every operation", async () => {
    const project = await addWritableProject(api, owner);
    for (const [id, recipe] of Object.entries(WRITES)) {
      const isCopy = id === "createProject";
      // What is left out writes nothing to the project, or deletes it.
      if (id === "deleteProject" || (recipe(project).gone === null && !isCopy)) continue;
      const answer = await charges(project, () => sendWrite(api, recipe(project)));
      expect(answer.status, `${id}: ${answer.text}`).toBeLessThan(300);
      if (!isCopy) continue;
      const copied = (answer.body as { id: string }).id;
      expect(await countedIn(sql, copied)).toEqual((await storedIn(sql, copied)).usage);
    }
    await sendWrite(api, (WRITES["deleteProject"] as (typeof WRITES)[string])(project));
    expect(await countedIn(sql, project.id)).toEqual({ files: 0, bytes: 0, chunks: 0 });
  });

  test("by every record of an import, whether it is new, changed or the same", async () => {
    const project = await api.project(owner);
    for (const length of [10, 10, 1_000, 100]) {
      for (const record of records(length)) {
        const line =
          record.record === "project"
            ? { ...record, slug: project.slug, name: "A", owner: email }
            : record;
        const { refused, errors } = await charges(project, () => report(project, [line]));
        expect(refused, JSON.stringify(errors)).toBe(0);
      }
      await charges(project, () => report(project, records(length).slice(1)));
    }
  });

  test("by imports that remove files, and by each command", async () => {
    const project = await api.project(owner);
    const run = async (...args: string[]) => {
      const { status, stdout, stderr } = await charges(project, () =>
        callCommand(args, { env: { DATABASE_URL: api.databaseUrl } }),
      );
      expect(status, stderr).toBe(0);
      return stdout;
    };
    const of = ["--project", project.slug];
    const files = ["a.md", "b.md", "c.md", "d.md"].map((path) => ({
      record: "file",
      path,
      environments: ["production"],
      content: `# ${path}`,
    }));
    await report(project, [{ record: "environment", name: "production" }, ...files]);
    const removal = { record: "removed_file", path: "a.md", environments: ["production"] };
    await charges(project, () => report(project, [removal]));
    await run("releases", "create", "v1", ...of);
    await run("files", "remove", "b.md", ...of, "--yes");
    await run("keys", "create", "--user", email, "--name", "a", ...of);
    const { id } = await api.key(owner, { project });
    await run("keys", "rotate", id);
    await run("embeddings", "rebuild", ...of, "--embedder", "hashing");
    await run("files", "remove", "c.md", ...of, "--purge", "--yes");
  });

  test("by the service that embeds, which is refused nothing", async () => {
    const project = await api.project(owner);
    await api.send("PATCH", `/projects/${project.id}`, {
      as: owner,
      json: { embedder: "hashing" },
    });
    await charges(project, async () => {
      const file = (path: string, length: number) => {
        const content = Array.from({ length }, (_, i) => `# ${i}\n\ntext ${i}\n`).join("\n");
        return { record: "file", path, environments: ["production"], content };
      };
      // A long file gets its embeddings after it is stored.
      await report(project, [
        { record: "environment", name: "production" },
        file("a.md", 9),
        file("b.md", 40),
      ]);
      await until("all is embedded", async () => {
        const { body } = await api.get(`/projects/${project.id}/index-state`, owner);
        return body.embeddings_waiting === 0;
      });
    });
  });

  test("which is each of the tables", async () => {
    const charged = (await tablesOfProjects(sql)).filter((table) => table.charged);
    expect([...added, "projects"].sort()).toEqual(charged.map(({ name }) => name));
  });
});

test("a purge gives back what files, their versions, their places and their part of releases took", async () => {
  const project = await api.project(owner);
  const file = (path: string) => ({
    record: "file",
    path,
    environments: ["production"],
    content: "text",
  });
  await report(project, [{ record: "environment", name: "production" }, file("a.md")]);
  const before = await countedIn(sql, project.id);
  const paths = Array.from({ length: 20 }, (_, i) => `${i}.md`);
  await report(project, paths.map(file));
  await report(project, [{ record: "release", name: "v1", environment: "production" }]);
  await charges(project, () => purgeFiles(sql, project.id, paths));
  const { files, chunks } = await countedIn(sql, project.id);
  expect({ files, chunks }).toEqual({ files: before.files, chunks: before.chunks });
});

describe("a purge gives back no more and no less than there is while another transaction", () => {
  const VECTOR_BYTES = 4 * 768;
  const changes: Readonly<Record<string, (tx: Transaction, project: string) => Promise<unknown>>> =
    {
      "takes a file out of a working set": (tx, project) => tx`
      WITH gone AS (DELETE FROM environment_files WHERE project_id = ${project} RETURNING stored_bytes)
      INSERT INTO quota_deltas SELECT ${project}, 0, -sum(stored_bytes), 0 FROM gone`,
      "puts a version into another working set": (tx, project) => tx`
      WITH put AS (
        INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
        SELECT v.project_id, e.id, v.file_id, v.id FROM file_versions v
        JOIN environments e ON e.project_id = v.project_id AND e.name = 'staging'
        WHERE v.project_id = ${project} RETURNING stored_bytes)
      INSERT INTO quota_deltas SELECT ${project}, 0, sum(stored_bytes), 0 FROM put`,
      "embeds a chunk": (tx, project) => tx`
      WITH embedded AS (
        UPDATE chunks SET embedding = decode(repeat('00', ${VECTOR_BYTES}), 'hex'), dimension = 768
        WHERE project_id = ${project} RETURNING id)
      INSERT INTO quota_deltas SELECT ${project}, 0, ${VECTOR_BYTES} * count(*), 0 FROM embedded`,
    };
  test.each(Object.keys(changes))("%s", async (name) => {
    const project = await api.project(owner);
    const environments = ["production", "staging"].map((each) => ({
      record: "environment",
      name: each,
    }));
    const chunks = [{ content: "text" }];
    const lines = [{ record: "file", path: "a.md", environments: ["production"], chunks }];
    await report(project, [...environments, ...lines]);
    const change = changes[name] as (typeof changes)[string];
    const purge = () => purgeFiles(sql, project.id, ["a.md"]);
    await charges(project, () => beforeCommit(sql, (tx) => change(tx, project.id), purge));
  });
});

describe("a quota of bytes ends", () => {
  const ALLOWED = 30_000;

  async function limited(): Promise<TestProject> {
    const project = await api.project(owner);
    await report(project, [{ record: "environment", name: "production" }]);
    await setQuotas(sql, project.id, { bytes: ALLOWED });
    return project;
  }

  const many = (of: (i: number) => object) => Array.from({ length: 160 }, (_, i) => of(i));
  const path = (i: number) => `${"long/".repeat(30)}${i}.md`;
  const FLOODS = {
    "empty files with long paths": many((i) => ({ record: "file", path: path(i), content: "" })),
    releases: many((i) => ({ record: "release", name: `v${i}`, environment: "production" })),
    webhooks: many((i) => ({ record: "webhook_definition", id: `w${i}`, secret: "a secret" })),
    branches: many((i) => ({ record: "branch", name: `b${i}` })),
    conversations: many(() => ({ record: "conversation", id: randomUUID(), created_by: "a" })),
  };
  test.each(Object.entries(FLOODS))("a flood of %s", async (_, lines) => {
    const project = await limited();
    const { tables } = await storedIn(sql, project.id);
    const before = tables.filter(({ name }) => name !== "audit_log");
    const { status, body } = await post(project, lines);
    expect([status, body.slug]).toEqual([409, "quota-exceeded"]);
    const stored = await storedIn(sql, project.id);
    expect(stored.tables.filter(({ name }) => name !== "audit_log")).toEqual(before);
  });

  test("releases that a client creates one by one", async () => {
    const project = await limited();
    const create = () =>
      api.post(
        `/projects/${project.slug}/releases`,
        { name: randomUUID(), environment: "production" },
        owner,
      );
    expect((await create()).status).toBe(201);
    const { bytes } = await countedIn(sql, project.id);
    await setQuotas(sql, project.id, { bytes });
    const { status, body } = await create();
    expect([status, body.slug]).toEqual([409, "quota-exceeded"]);
  });
});
