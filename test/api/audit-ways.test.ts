import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_ACTIONS } from "../../src/auth/audit/actions.ts";
import { RECORD_SCHEMAS, type RecordKind } from "../../src/content/import/records/schemas.ts";
import { type Answer, sharedApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { commandNames } from "../cli/support.ts";
import { ACCESS_CHANGES } from "./audit-access-changes.ts";
import type { Change, Place } from "./audit-change.ts";
import { CONTENT_CHANGES } from "./audit-content-changes.ts";
import { operationsOf } from "./operation-examples.ts";

const CHANGES = { ...ACCESS_CHANGES, ...CONTENT_CHANGES };

const READS = "changes nothing";
const OF_CONVERSATION = "is of a conversation, where it has its author and its time";
const OF_INDEX = "changes how things are indexed and not what there is";
const MODELS = "changes files of this machine, and embeds as `embeddings rebuild` does";

/** Operations that leave no entry, with the reason. */
const UNAUDITED_OPERATIONS: Readonly<Record<string, string>> = {
  callMcp: "runs other operations, which leave their entries",
  deliverWebhook: "events are listed with their webhook and time",
  answerInputRequest: OF_CONVERSATION,
  lookUpKnowledge: READS,
  retrieve: READS,
  searchEnvironment: READS,
  searchRelease: READS,
  upgradeSubscription: "opens a page of the billing provider, which has a log of its own",
};

/** Commands that leave no entry, with the reason. */
const UNAUDITED_COMMANDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["audit", "bench", "doctor", "embed", "export", "index status", "projects map"].map((name) => [
      name,
      READS,
    ]),
  ),
  ...Object.fromEntries(
    ["install", "list", "pull", "remove", "test"].map((name) => [`models ${name}`, MODELS]),
  ),
  ...Object.fromEntries(
    ["environments", "files", "keys", "members", "projects", "releases"].map((name) => [
      `${name} list`,
      READS,
    ]),
  ),
  "index rebuild": OF_INDEX,
  "projects default-quota": "belongs to no project",
  migrate: "changes the schema, which has a table of its own migrations",
  search: "creates a key at most, as `keys create` does",
  lookup: "creates a key at most, as `keys create` does",
  serve: "creates a demo at most, as `import` does",
  sync: "sends requests, which leave their entries",
  "vectors add-worker": OF_INDEX,
  "vectors placements": READS,
  "vectors rebalance": OF_INDEX,
  "vectors status": READS,
};

/** Records that leave no entry of their own, with the reason. */
const UNAUDITED_RECORDS: Readonly<{ [kind in RecordKind]?: string }> = {
  user: "belongs to no project, and may do nothing before it has a key or is a member",
  branch_approval: "names the user who approved, and the time",
  status_check: "is what a machine reports of a branch",
  conversation: OF_CONVERSATION,
  message: OF_CONVERSATION,
  input_request: OF_CONVERSATION,
};

const api = await sharedApi();
const { sql } = api;
const folder = temporaryFolder("audited");
writeFileSync(join(folder, "a.md"), "# A\n");
const env = { DATABASE_URL: api.databaseUrl, DATA_DIR: temporaryFolder("audited-data") };

interface Entry {
  readonly action: string;
  readonly via: string | null;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

/** The actor of an entry. */
type By = Omit<Entry, "action" | "details">;

const COMMAND: By = { via: "command", user_id: null, key_id: null, request_id: null };
const STATEMENT: By = { ...COMMAND, via: null };

async function newPlace({ isNew, withGuest, after }: Change): Promise<Place> {
  const email = () => `audited-${randomUUID()}@example.com`;
  const [ownerEmail, guestEmail] = [email(), email()];
  const owner = await api.user({ email: ownerEmail });
  const guest = await api.user({ email: guestEmail });
  const project = isNew
    ? { id: randomUUID(), slug: `p-${randomUUID()}` }
    : await api.project(owner);
  const key = await api.key(owner, isNew ? {} : { project });
  const prefix = key.key.split("_").slice(0, 2).join("_");
  const place = { project, owner, ownerEmail, guest, guestEmail, key, prefix, folder };
  if (isNew) return place;
  await sql`INSERT INTO environments (id, project_id, name)
    VALUES (${randomUUID()}, ${project.id}, 'production')`;
  if (withGuest) await api.join(guest, project, "editor");
  const records = after?.(place) ?? [];
  if (records.length > 0) {
    const report = await importsOf(api, owner).report(project, records);
    expect(report.errors).toEqual([]);
  }
  return place;
}

const lastEntry = async (): Promise<string> =>
  (await sql`SELECT coalesce(max(id), 0)::text AS id FROM audit_log`)[0]!["id"];

/** The entries of a place after an earlier one, with names instead of what differs between places. */
async function entriesSince(earlier: string, place: Place): Promise<Entry[]> {
  const { project, owner, guest } = place;
  const rows = await sql<Entry[]>`
    SELECT action, via, user_id, key_id, request_id, details FROM audit_log
    WHERE id > ${earlier}::bigint AND (project_id = ${project.id}
      OR project_id = (SELECT id FROM projects WHERE slug = ${project.slug}))
    ORDER BY id`;
  const names = { [owner.userId]: "OWNER", [guest.userId]: "GUEST", [project.slug]: "SLUG" };
  const named = (_: string, value: unknown) => {
    if (typeof value !== "string") return value;
    if (value.startsWith("tsr_")) return "PREFIX";
    return names[value] ?? (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value) ? "ID" : value);
  };
  return rows.map((row) => ({ ...row, details: JSON.parse(JSON.stringify(row.details), named) }));
}

const slashed = (path: string) => (path === "" || path.startsWith("?") ? path : `/${path}`);

const requestBy = (userId: string, { headers }: Answer): By => ({
  via: "http",
  user_id: userId,
  key_id: null,
  request_id: headers.get("x-request-id"),
});

/** Makes a change in a place, and returns the last entry from before it and the actor. */
type Way = (change: Change, place: Place) => Promise<{ readonly earlier: string; readonly by: By }>;

const requests: Way = async ({ http }, place) => {
  let made: { earlier: string; by: By } | undefined;
  for (const { operation, method, path, as = place.owner, ...sending } of http?.(place) ?? []) {
    const earlier = await lastEntry();
    const url = path.startsWith("/") ? path : `/projects/${place.project.slug}${slashed(path)}`;
    const answer = await api.send(method, url, { as, ...sending });
    expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(300);
    made = { earlier, by: requestBy(as.userId, answer) };
  }
  return made as { earlier: string; by: By };
};

const imports: Way = async ({ records }, place) => {
  const earlier = await lastEntry();
  const answer = await importsOf(api, place.owner).post(place.project, records?.(place) ?? []);
  expect(answer.body).toMatchObject({ refused: 0 });
  return { earlier, by: requestBy(place.owner.userId, answer) };
};

async function runs(args: readonly string[], stdin = "") {
  const earlier = await lastEntry();
  const { status, stderr } = await callCommand(args, { env, stdin });
  expect(status, stderr).toBe(0);
  return { earlier, by: COMMAND };
}

/** The ways in which a change can be made. */
function waysOf(change: Change): Readonly<Record<string, Way>> {
  const { http, command, records, onlyByCommand, statement } = change;
  return {
    ...(http && { request: requests }),
    ...(records && !onlyByCommand && { "import over HTTP": imports }),
    ...(command && { command: (_, place) => runs(command(place).split(" ")) }),
    ...(records && {
      "import by command": (_, place) => {
        const project = place.project.slug;
        const lines = records(place).map((each) => ({ ...inProject(each, project), ...each }));
        return runs(["import", "-", "--no-wait"], ndjson(lines));
      },
    }),
    ...(statement && {
      statement: async (_, place) => {
        const earlier = await lastEntry();
        await statement(place, sql);
        return { earlier, by: STATEMENT };
      },
    }),
  };
}

const inProject = ({ record }: { readonly record: string }, project: string) =>
  record === "project" ? {} : { project };

/** True for an import, which has an entry of its own besides those of what it changes. */
const isImport = (way: string, { command }: Change, place: Place) =>
  way.startsWith("import") || (way === "command" && command?.(place).startsWith("import "));

describe("the audit log has the same entries, whichever way a change is made:", () => {
  for (const [name, change] of Object.entries(CHANGES)) {
    const isExpected = (action: string) => change.leaves.some(([left]) => left === action);
    test(name, async () => {
      for (const [way, make] of Object.entries(waysOf(change))) {
        const place = await newPlace(change);
        const { earlier, by } = await make(change, place);
        const found = await entriesSince(earlier, place);
        const own = found.filter(({ action }) => action === "import");
        expect(own.map(({ action: _, details: _details, ...actor }) => actor)).toEqual(
          isImport(way, change, place) ? [by] : [],
        );
        const rest = found.filter(({ action }) => action !== "import" || isExpected(action));
        const expected = change.leaves.map(([action, details]) => ({ action, ...by, details }));
        expect(sorted(rest), way).toEqual(sorted(expected as Entry[]));
      }
    });
  }
});

test("entries say that secrets have changed, and have no values of them", async () => {
  const secret = "s3cret-of-a-user";
  const within = await newPlace({ leaves: [] });
  const { project, ownerEmail: owner } = within;
  const webhook = { record: "webhook_definition", id: "deploys", secret };
  const records = [
    { record: "project", slug: project.slug, name: "A project", owner, config: { secret } },
    { ...PRODUCTION, environment_variables: [{ secret }] },
    ...[webhook, { ...webhook, secret: `${secret}-too` }],
  ];
  for (const each of records) await importsOf(api, within.owner).report(project, [each]);
  const made = await api.post("/api-keys", { name: "k", project_id: project.id }, within.owner);
  const found = await entriesSince("0", within);
  const changed = found.flatMap(({ details }) =>
    Object.keys(details).filter((field) => details[field] === "changed"),
  );
  expect(changed.sort()).toEqual(["config", "environment_variables", "secret"]);
  expect(found.map(({ action }) => action)).toContain("key.created");
  for (const hidden of [secret, made.body.key]) expect(JSON.stringify(found)).not.toContain(hidden);
});

const sorted = (entries: readonly Entry[]) =>
  entries.toSorted((a, b) => (a.action < b.action ? -1 : 1));

const changes = Object.values(CHANGES);
const place = await newPlace({ leaves: [], isNew: true });

describe("nothing is left out:", () => {
  test("every operation that changes something is among the changes or the exceptions", async () => {
    const audited = changes
      .flatMap(({ http }) => http?.(place) ?? [])
      .map((each) => each.operation);
    const writing = (await operationsOf(api)).filter(({ method }) => method !== "GET");
    const known = [...audited, "importRecords", ...Object.keys(UNAUDITED_OPERATIONS)];
    expect([...new Set(known)].sort()).toEqual(
      writing.map(({ operation }) => operation.operationId).sort(),
    );
  });

  test("every command is among the changes or the exceptions", async () => {
    const names = await commandNames();
    const audited = changes
      .flatMap(({ command: argumentsOf }) => (argumentsOf ? [argumentsOf(place)] : []))
      .map((args) => names.find((name) => `${args} `.startsWith(`${name} `)) as string);
    const known = [...audited, ...Object.keys(UNAUDITED_COMMANDS)];
    expect([...new Set(known)].sort()).toEqual(names.sort());
  });

  test("every kind of record is among the changes or the exceptions", () => {
    const audited = changes.flatMap(({ records }) => records?.(place) ?? []);
    const known = [...audited.map(({ record }) => record), ...Object.keys(UNAUDITED_RECORDS)];
    expect([...new Set<string>(known)].sort()).toEqual(Object.keys(RECORD_SCHEMAS).sort());
  });

  test("every action is left by one of the changes, and known to the database and the page of docs", async () => {
    const actions = Object.keys(AUDIT_ACTIONS).sort();
    const left = changes.flatMap(({ leaves }) => leaves.map(([action]) => action as string));
    // test/api/audit-log.test.ts has those that are refused.
    expect([...new Set([...left, "denied"])].sort()).toEqual(actions);
    const [check] = await sql<{ text: string }[]>`
      SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'audit_log_action_check'`;
    const stored = [...(check?.text ?? "").matchAll(/'([a-z.]+)'/g)].map(([, action]) => action);
    expect(stored.sort() as string[]).toEqual(actions);
    const page = readFileSync(join(import.meta.dir, "../../docs/credentials.md"), "utf8");
    const section = page.split("## Audit log\n")[1]?.split("\n## ")[0] ?? "";
    const listed = [...section.matchAll(/^\| `([a-z.]+)` \| (.*) \|$/gm)];
    expect(listed.map(([, action, details]) => [action, details]) as string[][]).toEqual(
      Object.entries(AUDIT_ACTIONS) as string[][],
    );
  });
});
