import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setQuotaDefaults, setQuotas } from "../../src/content/projects/quota.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Answer, startApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { callCommand } from "../../support/processes/command.ts";
import { countedIn, storedIn } from "../../support/quotas.ts";
import { until } from "../../support/until.ts";
import { addWritableProject, sendWrite, WRITES } from "./project-writes.ts";

/** Far less than what each of these stores. */
const ALLOWED_BYTES = 20_000;
const MUCH = "x".repeat(100_000);
/** The longest text of a field for short texts. */
const SHORT = "x".repeat(8_192);
const PRODUCTION = { record: "environment", name: "production" };

const api = await startApi();
await setQuotaDefaults(api.sql, { bytes: ALLOWED_BYTES });
const owner = await api.user({ permissions: ["account.billing.manage"] });

const used = (id: string) => countedIn(api.sql, id);

/** What a project stores but entries of the audit log, which a refused import leaves, too. */
const storedBytes = async (id: string): Promise<number> => {
  const { tables } = await storedIn(api.sql, id);
  return tables.reduce((sum, { name, bytes }) => (name === "audit_log" ? sum : sum + bytes), 0);
};

/** The ids of the threads of this process that run imports. */
const importThreads = () =>
  readdirSync("/proc/self/task").filter((id) =>
    readFileSync(`/proc/self/task/${id}/comm`, "utf8").startsWith("tessera-import"),
  );

const refusal = ({ status, body }: Answer) => [status, body.slug];
const REFUSED = [409, "quota-exceeded"];

const fileOf = (path: string, more: object) => ({
  record: "file",
  path,
  environments: ["production"],
  ...more,
});
/** Everything that a client may fill with what they like, by the records that do. */
const fillings = (): Readonly<Record<string, readonly object[]>> => {
  const conversation = { record: "conversation", id: randomUUID(), created_by: "somebody" };
  const inConversation = { conversation_id: conversation.id };
  const branch = { record: "branch", id: randomUUID(), name: "main" };
  return {
    "the content of a file": [fileOf("a.md", { content: MUCH })],
    "the texts of chunks": [fileOf("a.md", { content: "a", chunks: [{ content: MUCH }] })],
    "the metadata of chunks": [
      fileOf("a.md", { content: "a", chunks: [{ content: "a", metadata: { a: MUCH } }] }),
    ],
    embeddings: [
      fileOf("a.md", {
        chunks: Array.from({ length: 8 }, (_, i) => ({
          content: String(i),
          embedding: Array(768).fill(i + 1),
        })),
      }),
    ],
    conversations: [{ ...conversation, summary: MUCH }],
    "the metadata of conversations": [{ ...conversation, metadata: { a: MUCH } }],
    messages: [
      conversation,
      { record: "message", ...inConversation, seq: 1, role: "user", parts: [{ text: MUCH }] },
    ],
    "the metadata of messages": [
      conversation,
      {
        record: "message",
        ...inConversation,
        seq: 1,
        role: "user",
        parts: [],
        metadata: { a: MUCH },
      },
    ],
    "input requests": [
      conversation,
      { record: "input_request", ...inConversation, id: randomUUID(), description: MUCH },
    ],
    "the short fields of conversations": [
      {
        ...conversation,
        current_node: SHORT,
        agent_id: SHORT,
        runtime_target_kind: SHORT,
        runtime_target_environment_id: SHORT,
        runtime_target_branch_id: SHORT,
      },
    ],
    "the short fields of messages": [
      conversation,
      {
        record: "message",
        ...inConversation,
        seq: 1,
        role: "user",
        created_by: SHORT,
        model: SHORT,
        finish_reason: SHORT,
        cost_credits: SHORT,
        idempotency_key: SHORT,
      },
    ],
    "the short fields of input requests": [
      conversation,
      ...[randomUUID(), randomUUID()].map((id) => ({
        record: "input_request",
        ...inConversation,
        id,
        run_id: SHORT,
        tool_call_id: SHORT,
      })),
    ],
    environments: [{ ...PRODUCTION, environment_variables: [{ name: "A", value: MUCH }] }],
    "status checks": [
      branch,
      {
        record: "status_check",
        branch_id: branch.id,
        check_name: "a",
        status: "success",
        description: MUCH,
      },
    ],
  };
};

describe("the bytes of a project", () => {
  test.each(Object.keys(fillings()))(
    "have a limit that %s cannot exceed, whether new or changed",
    async (what) => {
      const project = await api.project(owner);
      const { post } = importsOf(api, owner);
      const records = fillings()[what] as readonly object[];
      await addEnvironment(api.sql, project);
      const empty = await storedBytes(project.id);
      expect(refusal(await post(project, records))).toEqual(REFUSED);
      expect(await storedBytes(project.id)).toBe(empty);
      // The same with little, which is then changed.
      const little = JSON.parse(
        JSON.stringify(records)
          .replaceAll(MUCH, "x")
          .replaceAll(SHORT, "x")
          .replaceAll(/\[(\d)(,\1)+\]/g, "null"),
      );
      expect((await post(project, little)).body).toMatchObject({ refused: 0 });
      const before = await storedBytes(project.id);
      expect(refusal(await post(project, records))).toEqual(REFUSED);
      expect(await storedBytes(project.id)).toBe(before);
    },
  );

  test("are compared in one thread, import after import, as a start of one costs more than a refusal", async () => {
    const project = await api.project(owner);
    const { post } = importsOf(api, owner);
    expect((await post(project, [PRODUCTION])).status).toBe(200);
    const before = importThreads();
    for (let i = 0; i < 3; i++) {
      expect(refusal(await post(project, [fileOf("a.md", { content: MUCH })]))).toEqual(REFUSED);
    }
    expect(importThreads()).toEqual(before);
  });

  test("are refused to no operation but those that add to them, which store nothing then", async () => {
    const adding = [
      "putFile",
      "importRecords",
      "createEnvironment",
      "createRelease",
      "createWebhook",
      "deliverWebhook",
      "answerInputRequest",
      "createProject",
    ];
    const project = await addWritableProject(api, owner);
    const { bytes } = await used(project.id);
    await api.sql`UPDATE projects SET max_bytes = ${bytes} WHERE id = ${project.id}`;
    for (const [id, recipe] of Object.entries(WRITES)) {
      const answer = await sendWrite(api, recipe(project));
      // A copy of what fits the limit fits, too.
      if (adding.includes(id) && id !== "createProject") {
        expect([id, ...refusal(answer)]).toEqual([id, ...REFUSED]);
      } else {
        expect(answer.status, `${id}: ${answer.text}`).toBeLessThan(300);
      }
    }
    expect(await used(project.id)).toEqual({ files: 0, bytes: 0, chunks: 0 });
  });

  test("have no default once the operator lifts it, and the default again when asked for it", async () => {
    const project = await api.project(owner);
    const allowed = async () =>
      (await api.get(`/projects/${project.id}/quotas`, owner)).body.data[1].allowed;
    expect(await allowed()).toBe(ALLOWED_BYTES);
    await setQuotas(api.sql, project.id, { bytes: "none" });
    expect(await allowed()).toBeNull();
    const { post } = importsOf(api, owner);
    const records = [PRODUCTION, fileOf("a.md", { content: MUCH })];
    expect((await post(project, records)).status).toBe(200);
    await setQuotas(api.sql, project.id, { bytes: "default" });
    expect(await allowed()).toBe(ALLOWED_BYTES);
  });
});

test("a copy of a project has its limits", async () => {
  const template = await addWritableProject(api, owner);
  await api.sql`UPDATE projects SET max_files = 1, max_bytes = 5000 WHERE id = ${template.id}`;
  const slug = `copy-${randomUUID()}`;
  const copy = { slug, name: "Copy", templateSlug: template.slug };
  expect((await api.post("/projects", copy, owner)).status).toBe(201);
  const { body } = await api.get(`/projects/${slug}/quotas`, owner);
  expect(body.data.map(({ allowed }: { allowed: number }) => allowed)).toEqual([1, 5000, null]);
});

test("texts that fit are embedded, although their embeddings do not", async () => {
  const project = await api.project(owner);
  await api.send("PATCH", `/projects/${project.id}`, { as: owner, json: { embedder: "hashing" } });
  const { post } = importsOf(api, owner);
  const content = Array.from({ length: 12 }, (_, i) => `# ${i}\n\n${"word ".repeat(60)}\n`).join(
    "\n",
  );
  expect((await post(project, [PRODUCTION, fileOf("a.md", { content })])).status).toBe(200);
  await until("all is embedded, beyond the quota", async () => {
    const { body } = await api.get(`/projects/${project.id}/index-state`, owner);
    return body.embeddings_waiting === 0 && (await used(project.id)).bytes > ALLOWED_BYTES;
  });
  expect(refusal(await post(project, [fileOf("b.md", { content: "b" })]))).toEqual(REFUSED);
});

describe("the default for all projects of an owner", () => {
  beforeAll(async () => {
    await setQuotaDefaults(api.sql, { bytes: null, owner_files: 6 });
  });
  afterAll(async () => {
    await setQuotaDefaults(api.sql, { owner_files: null });
  });

  test("holds for copies and writes at the same time, and for nobody else", async () => {
    const { owner: caller, project: template } = await api.ownedProject();
    const { post } = importsOf(api, caller);
    const files = ["a.md", "b.md"].map((path) => fileOf(path, { content: "text" }));
    expect((await post(template, [PRODUCTION, ...files])).status).toBe(200);
    const others = await Promise.all(Array.from({ length: 4 }, () => api.project(caller)));
    for (const project of others) await addEnvironment(api.sql, project);
    const untilNotBusy = async (send: () => Promise<Answer>): Promise<Answer> => {
      let answer: Answer | undefined;
      await until("the service is not busy", async () => {
        answer = await send();
        return answer.status !== 503;
      });
      return answer as Answer;
    };
    const copy = () => ({ slug: `c-${randomUUID()}`, name: "Copy", templateSlug: template.slug });
    const answers = await Promise.all([
      ...others.map(() => untilNotBusy(() => api.post("/projects", copy(), caller))),
      ...others.map((project) => untilNotBusy(() => post(project, files))),
    ]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(2);
    for (const answer of answers)
      if (answer.status >= 300) expect(refusal(answer)).toEqual(REFUSED);
    const [sum] = await api.sql`
      SELECT count(*)::integer AS files FROM files JOIN memberships m USING (project_id)
      WHERE m.user_id = ${caller.userId}`;
    expect(sum?.["files"]).toBe(6);
    const [left] = await api.sql`SELECT count(*)::integer AS count FROM quota_reservations`;
    expect(left?.["count"]).toBe(0);
    const { owner: other, project: theirs } = await api.ownedProject();
    expect((await importsOf(api, other).post(theirs, [PRODUCTION, ...files])).status).toBe(200);
  });

  test("is not told from what others store: the answer names the limit alone", async () => {
    const { owner: caller, project } = await api.ownedProject();
    const { post } = importsOf(api, caller);
    const files = Array.from({ length: 7 }, (_, i) => fileOf(`${i}.md`, { content: "text" }));
    const answer = await post(project, [PRODUCTION, ...files]);
    expect(refusal(answer)).toEqual(REFUSED);
    expect(answer.body.detail).toBe("All projects of an owner may store at most 6 files together.");
  });
});

test("the defaults are read and set by a command, and hold at once", async () => {
  const run = (...options: string[]) =>
    callCommand(["projects", "default-quota", ...options], {
      env: { DATABASE_URL: api.databaseUrl },
    });
  const set = await run("--bytes", "none", "--owner-bytes", "20000", "--json");
  expect(
    set.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { quota: "bytes", allowed: null },
    { quota: "owner_bytes", allowed: 20_000 },
  ]);
  const { owner: caller, project } = await api.ownedProject();
  const { post } = importsOf(api, caller);
  const large = [PRODUCTION, fileOf("a.md", { content: MUCH })];
  expect(refusal(await post(project, large))).toEqual(REFUSED);
  const lifted = await run("--owner-bytes", "none");
  expect(lifted.stdout).toMatch(/^owner_bytes +any number$/m);
  // With a row, each write compares.
  expect(await api.sql`SELECT FROM quota_defaults`).toHaveLength(0);
  expect((await post(project, large)).status).toBe(200);
  expect((await run("--bytes", "many")).status).toBe(2);
});
