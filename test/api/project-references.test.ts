import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countOtherEmbedders } from "../../src/content/import/files/other-embedders.ts";
import { RECORD_SCHEMAS } from "../../src/content/import/records/schemas.ts";
import { transaction } from "../../src/db/transaction.ts";
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import { addQuestions } from "../../src/query/questions/queries.ts";
import { addProject, type Project } from "../../support/accounts.ts";
import { type Caller, sharedApi, startApi, type TestApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";
import { commandNames } from "../cli/support.ts";
import { type Example, examplesOf, sendExample } from "./operation-examples.ts";

/** Two projects of one owner, who is a member of both: the slug of the second is the id of the first. */
interface World {
  readonly api: TestApi;
  readonly owner: Caller;
  readonly key: string;
  /** The demo, which has one of each thing that examples name. */
  readonly demo: Project;
  /** An empty project. */
  readonly namesake: Project;
}

async function world(): Promise<World> {
  const api = await startApi();
  const demo = await createDemo(temporaryFolder("demo"), api.sql, createLog("fatal"));
  const [row] = await api.sql<{ id: string; ownerId: string }[]>`
    SELECT p.id, m.user_id AS "ownerId" FROM projects p JOIN memberships m ON m.project_id = p.id`;
  const { id, ownerId } = row as { id: string; ownerId: string };
  const namesake = await addProject(api.sql, ownerId, id);
  const key = demo?.key ?? "";
  const asked = { asked: 1, without_hits: 0 };
  const day = new Date().toISOString().slice(0, 10);
  const questions = new Map([["how do snapshots work", asked]]);
  await transaction(api.sql, (tx) =>
    addQuestions(tx, [{ project: id, day, durations: [1], ...asked, questions }]),
  );
  const owner = { userId: ownerId, headers: { "x-api-key": key } };
  return { api, owner, key, demo: { id, slug: "demo" }, namesake };
}

/** An id that a slug may be, because it begins with a letter. */
const idLikeSlug = () => `a${crypto.randomUUID().slice(1)}`;

/** Two such projects without contents, in the service that tests share. */
async function emptyPair() {
  const api = await sharedApi();
  const owner = await api.user();
  const demo = { id: idLikeSlug(), slug: `demo-${crypto.randomUUID()}` };
  await api.sql`INSERT INTO projects (id, slug, name) VALUES (${demo.id}, ${demo.slug}, 'Demo')`;
  await api.join(owner, demo, "owner");
  return { api, owner, demo, namesake: await api.project(owner, { slug: demo.id }) };
}

/** Tables that a service writes by itself meanwhile, and the log, which names what is only read, too, with its charges. */
const BACKGROUND = [
  ...["index_nodes", "index_state", "parked_tasks", "questions", "question_days", "audit_log"],
  "quota_deltas",
];

/**
 * All rows that name the demo alone, and all that name the namesake, as one hash for each table. When a key was last
 * used is written a while after its use.
 */
async function rowsOf({ api: { sql }, demo, namesake }: World) {
  const tables = await sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'
      AND tablename <> ALL (${BACKGROUND}) ORDER BY 1`;
  const [ofDemo, ofNamesake] = [demo, namesake].map(({ id }) => `%${id}%`) as [string, string];
  const hashes: Record<"demo" | "namesake", Record<string, string>> = { demo: {}, namesake: {} };
  for (const { name } of tables) {
    const [row] = await sql<{ demo: string | null; namesake: string | null }[]>`
      SELECT md5(string_agg(hash, '' ORDER BY hash) FILTER (WHERE NOT is_other)) AS demo,
        md5(string_agg(hash, '' ORDER BY hash) FILTER (WHERE is_other)) AS namesake
      FROM (
        SELECT md5(t.text) AS hash, t.text LIKE ${ofNamesake} AS is_other
        FROM (SELECT (to_jsonb(r) - 'last_used_at')::text AS text FROM ${sql(name)} r) t
        WHERE t.text LIKE ${ofDemo} OR t.text LIKE ${ofNamesake}) rows`;
    if (row?.demo) hashes.demo[name] = row.demo;
    if (row?.namesake) hashes.namesake[name] = row.namesake;
  }
  return hashes;
}

/**
 * Runs something that names the demo by its id. It must change no row of the namesake. If it reads, or changes none of
 * the demo either, it must tell what it tells by the slug of the demo, and not what it tells of the namesake.
 */
async function takesTheId(
  what: string,
  isRead: boolean,
  all: World,
  run: (reference: string) => Promise<string>,
): Promise<void> {
  const { demo, namesake } = all;
  // Comparing all rows is most of the work.
  const before = isRead ? undefined : await rowsOf(all);
  await run(demo.id);
  if (before !== undefined) {
    const after = await rowsOf(all);
    expect(after.namesake, `${what} changes another project`).toEqual(before.namesake);
    if (!Bun.deepEquals(before.demo, after.demo)) return;
  }
  // What is told of an index settles after a while.
  await until(`${what} tells the same by id and by slug`, async () => {
    const [byId, bySlug, other] = [
      await run(demo.id),
      await run(demo.slug),
      await run(namesake.id),
    ];
    if (bySlug === other) return false;
    expect(byId, `${what} takes another project`).not.toBe(other);
    return byId === bySlug;
  });
}

/** What a client reads in an answer, without what differs each time. */
function told({ status, body, text }: { status: number; body: Json; text: string }): string {
  if (typeof body !== "object" || body === null) return `${status} ${text}`;
  return `${status} ${JSON.stringify({ ...body, page_info: 0, search_time_ms: 0, instance: 0 })}`;
}

const isOfProject = ({ template }: Example) => template.includes("{project_reference}");

test("every operation on a project takes the one with the id, whatever slug another one has", async () => {
  const all = await world();
  const { api, owner } = all;
  let operations = 0;
  for await (const example of examplesOf(api, owner)) {
    if (example.template === "/webhooks/{webhook_id}") await sendExample(api, owner, example);
    if (!isOfProject(example)) continue;
    operations++;
    const send = (reference: string) => {
      const url = new URL(
        example.path.replace("/projects/demo", `/projects/${reference}`),
        api.url,
      );
      // Nothing has happened at the times of the examples.
      for (const name of ["from", "to"]) url.searchParams.delete(name);
      return sendExample(api, owner, example, url.pathname + url.search);
    };
    const what = example.operation.operationId;
    let isFirst = true;
    await takesTheId(what, example.method === "GET", all, async (reference) => {
      const answer = await send(reference);
      if (isFirst) expect(answer.status, `${what}: ${answer.text}`).toBeLessThan(300);
      isFirst = false;
      return told(answer);
    });
  }
  expect(operations).toBeGreaterThan(20);
});

test("an invitation is accepted and declined for the project with the id", async () => {
  const { api, owner, demo, namesake } = await emptyPair();
  const path = (reference: string, user: Caller) => `/projects/${reference}/members/${user.userId}`;
  const openTo = async (user: Caller) =>
    (await api.get("/invitations", user)).body.data.map(({ project }: Json) => project.id).sort();
  for (const method of ["PUT", "DELETE"]) {
    const user = await api.user();
    for (const { id } of [demo, namesake]) {
      await api.send("PUT", path(id, user), { as: owner, json: { role: "editor" } });
    }
    expect(await openTo(user)).toEqual([demo.id, namesake.id].sort());
    const json = method === "PUT" ? { json: { role: "editor" } } : {};
    expect(
      (await api.send(method, path(demo.id, user), { as: user, ...json })).status,
    ).toBeLessThan(300);
    expect(await openTo(user)).toEqual([namesake.id]);
    const joined = await api.sql`SELECT project_id FROM memberships WHERE user_id = ${user.userId}`;
    expect([...joined]).toEqual(method === "PUT" ? [{ project_id: demo.id }] : []);
  }
});

test("a caller who has access to the namesake only does not get it by the id of the other one", async () => {
  const { api, demo, namesake } = await emptyPair();
  const user = await api.user();
  await api.join(user, namesake, "owner");
  for (const path of ["", "/files", "/members"]) {
    expect((await api.get(`/projects/${demo.id}${path}`, user)).status).toBe(404);
  }
  const change = { as: user, json: { name: "Taken" } };
  expect((await api.send("PATCH", `/projects/${demo.id}`, change)).status).toBe(404);
  expect((await api.get(`/projects/${namesake.id}`, user)).body.name).not.toBe("Taken");
});

test("a key is for the project with the id", async () => {
  const { api, demo } = await emptyPair();
  const user = await api.user();
  await api.join(user, demo);
  const { status, body } = await api.post("/api-keys", { name: "k", project_id: demo.id }, user);
  expect([status, body.project_id]).toEqual([201, demo.id]);
});

test("a new project whose slug is the id of another one is found where the answer says", async () => {
  const { api, owner } = await emptyPair();
  const id = idLikeSlug();
  const created = await api.post("/projects", { name: "Named", slug: id }, owner);
  await api.sql`INSERT INTO projects (id, slug, name) VALUES (${id}, ${`late-${id}`}, 'Late')`;
  const location = created.headers.get("location") as string;
  expect((await api.get(location, owner)).body.id).toBe(created.body.id);
});

let shared: Promise<World> | undefined;
/** The projects of the tests below; the last one deletes the demo. */
function filled(): Promise<World> {
  shared ??= world();
  return shared;
}

const USER = "owner@localhost";
const HASH = "0".repeat(64);
/** A record of each kind that names its project. */
const RECORDS: Readonly<Record<string, object>> = {
  api_key: { user: USER, name: "k", key_prefix: "tsr_abcdefghijkl", key_hash: HASH },
  environment: { name: "new" },
  file: { path: "new.md", environments: ["production"], content: "# New\n" },
  release: { name: "v-new", environment: "production" },
  branch: { name: "new" },
  conversation: { created_by: USER, title: "New" },
  webhook_definition: { id: "new", secret_hash: HASH },
};

describe("a record of an import", () => {
  const naming = Object.entries(RECORD_SCHEMAS).flatMap(([kind, { properties }]) =>
    ["project", "project_id"].flatMap((field) => (field in properties ? [{ kind, field }] : [])),
  );

  test("names its project in a field that the cases below have", () => {
    expect(naming.map(({ kind }) => kind).sort()).toEqual(Object.keys(RECORDS).sort());
  });

  test("goes to the project with the id that it names", async () => {
    const all = await filled();
    const { api, demo } = all;
    for (const { kind, field } of naming) {
      const before = await rowsOf(all);
      const stdin = ndjson([{ record: kind, [field]: demo.id, ...RECORDS[kind] }]);
      const env = { DATABASE_URL: api.databaseUrl };
      const { status, stderr } = await callCommand(["import", "-"], { env, stdin });
      expect(status, `${kind}: ${stderr}`).toBe(0);
      const after = await rowsOf(all);
      expect(after.namesake, kind).toEqual(before.namesake);
      expect(after.demo, kind).not.toEqual(before.demo);
    }
  });

  test("is refused by an import into the namesake, because it names the other project", async () => {
    const all = await filled();
    const { api, owner, namesake } = all;
    const inProjects = naming.filter(({ kind }) => kind !== "api_key");
    const before = await rowsOf(all);
    const lines = inProjects.map(({ kind, field }) => ({
      record: kind,
      [field]: namesake.slug,
      ...RECORDS[kind],
    }));
    const target = { id: namesake.id, slug: namesake.id };
    const { refused, errors } = await importsOf(api, owner).report(target, lines);
    expect(refused).toBe(lines.length);
    for (const { message } of errors) expect(message).toContain("must be the project of this");
    expect(await rowsOf(all)).toEqual(before);
  });
});

test("the embedders of the files of the project with the id are compared", async () => {
  const { api, demo } = await filled();
  const scope = { project: demo.id, environment: "production" };
  expect((await countOtherEmbedders(api.sql, scope, "another")).of).toBeGreaterThan(0);
});

const folder = temporaryFolder("references");
writeFileSync(join(folder, "from-a-folder.md"), "# From a folder\n");

type Arguments = (reference: string, all: World) => readonly string[];
const withProject =
  (...args: readonly string[]): Arguments =>
  (reference) => [...args, "--project", reference];
const asked: Arguments = (reference, { api }) => [
  ...["how do snapshots work", "--project", reference, "--url", api.url, "--json"],
];

/** The arguments of each command that takes a project, in an order in which the demo can answer them. */
const COMMANDS: Readonly<Record<string, Arguments>> = {
  export: withProject(),
  audit: withProject("--json"),
  "projects quota": (reference) => [reference, "--json"],
  "files list": withProject("--json"),
  "members list": withProject("--json"),
  "releases list": withProject("--json"),
  "environments list": withProject("--json"),
  search: (reference, all) => [...asked(reference, all), "--key", all.key],
  lookup: asked,
  "index status": withProject(),
  "index rebuild": withProject(),
  "keys create": withProject("--user", USER, "--name", "laptop"),
  "keys list": withProject("--json"),
  "embeddings rebuild": withProject("--embedder", "hashing"),
  "members add": withProject("new@example.com", "--create"),
  "members remove": withProject("new@example.com", "--yes"),
  "releases create": withProject("v-made"),
  "environments activate": withProject("staging", "v-made"),
  import: withProject("--markdown", folder),
  "files remove": withProject("from-a-folder.md", "--yes"),
  sync: (reference, { api, key }) => [
    ...[folder, "--project", reference, "--environment", "production"],
    ...["--url", api.url, "--key", key, "--no-wait"],
  ],
  "projects delete": (reference) => [reference, "--yes"],
};

/** Commands that change nothing. */
const READING = /^(?:export|audit|search|lookup|index status|.* list)$/;

/** Commands that take a project, and need more than a service. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "models pull": "fetches a model, and then does what `embeddings rebuild` does",
  "vectors placements": "needs Citus; it finds the project as the others do",
};

describe("a command", () => {
  test("that takes a project is one of the cases below", async () => {
    const taking: string[] = [];
    for (const name of await commandNames()) {
      const { stdout } = await callCommand([...name.split(" "), "--help"]);
      if (/--project <|<slug>/.test(stdout)) taking.push(name);
    }
    expect(taking.sort()).toEqual([...Object.keys(COMMANDS), ...Object.keys(ELSEWHERE)].sort());
  });

  test("takes the project with the id, whatever slug another one has", async () => {
    const all = await filled();
    const env = { DATABASE_URL: all.api.databaseUrl, DATA_DIR: temporaryFolder("keys") };
    for (const [name, argumentsOf] of Object.entries(COMMANDS)) {
      let isFirst = true;
      await takesTheId(name, READING.test(name), all, async (reference) => {
        const args = [...name.split(" "), ...argumentsOf(reference, all)];
        const { status, stdout, stderr } = await callCommand(args, { env });
        if (isFirst) expect(status, `${name}: ${stderr}`).toBe(0);
        isFirst = false;
        return `${status} ${stdout}`;
      });
    }
  });

  test("of a balancer's table has no line for a slug that names another project", async () => {
    const { api, demo, namesake } = await emptyPair();
    const env = { DATABASE_URL: api.databaseUrl };
    const { stdout } = await callCommand(["projects", "map", "--format", "haproxy"], { env });
    expect(stdout).toContain(`${demo.slug} ${demo.id}\n`);
    expect(stdout).not.toContain(namesake.id);
  });
});
