import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { Glob } from "bun";
import postgres from "postgres";
import { ApiKeyVerifier } from "../../src/auth/api-keys.ts";
import { readAuditEntries } from "../../src/auth/audit/entries.ts";
import { generateKey, hashKey, parseKey } from "../../src/auth/key-format.ts";
import type { Principal } from "../../src/auth/principal.ts";
import { findProject } from "../../src/auth/project-access.ts";
import { recordUser } from "../../src/auth/users.ts";
import type { ChunkPosition } from "../../src/content/chunks.ts";
import * as chunks from "../../src/content/chunks.ts";
import * as compare from "../../src/content/compare.ts";
import * as files from "../../src/content/files/queries.ts";
import * as contents from "../../src/content/projects/contents.ts";
import * as projects from "../../src/content/projects/queries.ts";
import * as scopeQueries from "../../src/content/projects/scope-queries.ts";
import * as scopes from "../../src/content/scopes/queries.ts";
import type { Sql, Transaction } from "../../src/db/client.ts";
import { lockMembers } from "../../src/db/project-lock.ts";
import { sessionOf } from "../../src/db/session/session.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import * as apiKeys from "../../src/platform/api-keys/queries.ts";
import * as branches from "../../src/platform/branches/queries.ts";
import * as conversations from "../../src/platform/conversations/queries.ts";
import * as inputRequests from "../../src/platform/input-requests/queries.ts";
import * as members from "../../src/platform/members/queries.ts";
import * as webhooks from "../../src/platform/webhooks/queries.ts";
import * as questions from "../../src/query/questions/queries.ts";
import type { Json } from "../../support/api/openapi.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { fill, idOf } from "./filled.ts";

/** A sequential scan of a smaller table is cheap. */
const LARGE_ROWS = 1_000;
const FILL_TIMEOUT_MS = 120_000;
/** PostgreSQL may use a generic plan from the sixth execution on, so both plans are checked. */
const KINDS = ["", "GENERIC_PLAN, "] as const;

const database = await createTestDatabase();
const statements: Array<{ text: string; parameters: unknown[] }> = [];
const recording = postgres(database.url, {
  max: 1,
  connection: sessionOf(database.url).parameters,
  debug: (_connection, text, parameters) => void statements.push({ text, parameters }),
}) as Sql;
const ids: Record<string, string> = {};
let large = new Set<string>();

beforeAll(async () => {
  await fill(database.sql);
  for (const table of ["users", "projects", "api_keys", "file_versions", "branches"]) {
    ids[table] = await idOf(database.sql, table, 8);
  }
  for (const table of ["environments", "releases"]) ids[table] = await idOf(database.sql, table, 8);
  for (const table of ["conversations", "messages", "input_requests"]) {
    ids[table] = await idOf(database.sql, table, 8);
  }
  const rows = await database.sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND reltuples > ${LARGE_ROWS}`;
  large = new Set(rows.map((row) => row.name));
}, FILL_TIMEOUT_MS);
afterAll(() => recording.end());

const KEY = generateKey();
const KEY_PREFIX = parseKey(KEY)?.keyPrefix as string;

const one = (table: string) => ids[table] as string;
const caller = (): Principal => ({
  userId: one("users"),
  identity: {
    name: "New",
    email: "new@example.com",
    isVerified: true,
    issuedAt: new Date(),
  },
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
});
const bound = (): Principal => ({ ...caller(), projectId: one("projects") });
const position = (): ChunkPosition => ["docs/8.md", one("file_versions"), 0];
const scope = (kind: Scope["kind"]): Scope => ({
  kind,
  id: one(`${kind}s`),
  projectId: one("projects"),
  tenant: one("users"),
  frozen: false,
});
const newKey = () => ({
  id: randomUUID(),
  userId: one("users"),
  projectId: one("projects"),
  name: "key",
  keyPrefix: "tsr_new",
  keyHash: new Uint8Array(32),
  scopes: [],
  expiresAt: null,
});
const newProject = (templateId: string | null) => ({
  id: randomUUID(),
  slug: `new-${randomUUID().slice(0, 8)}a`.replaceAll(/-(\d)/g, "-x$1"),
  name: "n",
  description: null,
  templateId,
  embedder: null,
});
const delivery = () => ({
  definitionId: "hook8",
  key: "a key",
  payload: { isJson: true, json: "{}", fingerprint: Buffer.alloc(32) },
  ids: {
    event: randomUUID(),
    conversation: randomUUID(),
    message: randomUUID(),
    run: randomUUID(),
  },
});

async function copied(tx: Transaction): Promise<void> {
  const project = await projects.insertProject(tx, newProject(one("projects")));
  await projects.copyEnvironments(tx, one("projects"), project.id);
  await projects.copyWorkingSets(tx, one("projects"), project.id);
}

async function owned(tx: Transaction): Promise<void> {
  const project = await projects.insertProject(tx, newProject(null));
  await projects.insertOwner(tx, project.id, one("users"));
  await projects.insertEnvironment(tx, project.id, { name: "production" });
}

async function answered(tx: Transaction): Promise<void> {
  const request = await inputRequests.lockRequest(tx, one("conversations"), one("input_requests"));
  if (request === undefined) throw new Error("the filled database has no input request");
  const answer = { id: randomUUID(), actorType: "human", actorId: "a", values: "{}" };
  await inputRequests.storeResponse(tx, request, answer);
}

type Run = (tx: Transaction) => Promise<unknown>;

/** Every query function of every feature, by file and name. */
const RUNS: Record<string, Record<string, Run>> = {
  "src/platform/api-keys/queries.ts": {
    insertApiKey: (tx) => apiKeys.insertApiKey(tx, newKey()),
    readApiKey: (tx) => apiKeys.readApiKey(tx, bound(), one("api_keys")),
    readApiKeys: async (tx) => {
      await apiKeys.readApiKeys(tx, caller(), { limit: 51 });
      await apiKeys.readApiKeys(tx, caller(), { after: ["name", one("api_keys")], limit: 51 });
      await apiKeys.readApiKeys(tx, bound(), { before: ["name", one("api_keys")], limit: 51 });
    },
    lockKeyInUse: (tx) => apiKeys.lockKeyInUse(tx, one("api_keys")),
    revokeApiKey: async (tx) => {
      await apiKeys.revokeApiKey(tx, caller(), one("api_keys"));
      await apiKeys.revokeApiKey(tx, bound(), one("api_keys"));
    },
  },
  "src/platform/branches/queries.ts": {
    readBranch: (tx) => branches.readBranch(tx, one("projects"), one("branches")),
  },
  "src/content/chunks.ts": {
    readChunks: async (tx) => {
      await chunks.readChunks(tx, one("projects"), { limit: 51 });
      await chunks.readChunks(tx, one("projects"), { after: position(), limit: 51 });
      await chunks.readChunks(tx, one("projects"), { before: position(), limit: 51 });
    },
  },
  "src/content/compare.ts": {
    readChanges: async (tx) => {
      const [environment, release] = [scope("environment"), scope("release")];
      await compare.readChanges(tx, release, environment, { limit: 51 });
      await compare.readChanges(tx, environment, release, { after: ["a"], limit: 51 });
      await compare.readChanges(tx, release, release, { before: ["z"], limit: 51 });
    },
  },
  "src/content/files/queries.ts": {
    readFiles: async (tx) => {
      for (const kind of ["environment", "release"] as const) {
        await files.readFiles(tx, scope(kind), { prefix: "", limit: 51 });
        await files.readFiles(tx, scope(kind), { prefix: "docs/", after: ["docs/1"], limit: 51 });
        await files.readFiles(tx, scope(kind), { prefix: "", before: ["docs/2"], limit: 51 });
      }
    },
    readFile: async (tx) => {
      for (const kind of ["environment", "release"] as const) {
        await files.readFile(tx, scope(kind), { name: "docs/8.md" });
        await files.readFile(tx, scope(kind), { id: randomUUID() });
      }
    },
    readContent: (tx) => files.readContent(tx, one("file_versions")),
  },
  "src/platform/members/queries.ts": {
    readMembers: async (tx) => {
      const position: members.MemberPosition = [true, "a", one("users")];
      await members.readMembers(tx, one("projects"));
      await members.readMembers(tx, one("projects"), { after: position, limit: 51 });
      await members.readMembers(tx, one("projects"), { before: position, limit: 51 });
    },
    readMember: (tx) => members.readMember(tx, one("projects"), one("users")),
    readStanding: (tx) => members.readStanding(tx, one("projects"), one("users")),
    storeMember: (tx) => members.storeMember(tx, one("projects"), one("users"), "editor"),
    deleteMember: (tx) => members.deleteMember(tx, one("projects"), one("users")),
  },
  "src/platform/conversations/queries.ts": {
    readConversation: (tx) => conversations.readConversation(tx, caller(), one("conversations")),
    readMessage: (tx) =>
      conversations.readMessage(tx, bound(), one("conversations"), one("messages")),
    readMessages: (tx) => conversations.readMessages(tx, caller(), one("conversations"), 1_001),
  },
  "src/platform/input-requests/queries.ts": {
    hasAccess: (tx) => inputRequests.hasAccess(tx, caller(), one("conversations")),
    readRequest: (tx) => inputRequests.readRequest(tx, one("conversations"), one("input_requests")),
    lockRequest: (tx) => inputRequests.lockRequest(tx, one("conversations"), one("input_requests")),
    readResponse: (tx) => inputRequests.readResponse(tx, one("input_requests")),
    markExpired: (tx) => inputRequests.markExpired(tx, one("input_requests")),
    storeResponse: answered,
  },
  "src/content/projects/queries.ts": {
    readProjects: async (tx) => {
      await projects.readProjects(tx, caller(), { limit: 51 });
      await projects.readProjects(tx, caller(), { after: ["a"], limit: 51 });
      await projects.readProjects(tx, bound(), { before: ["z"], limit: 51 });
      await projects.readProjects(tx, caller(), { id: one("projects"), limit: 1 });
    },
    requireEmbedder: (tx) => projects.requireEmbedder(tx, one("projects"), "hashing"),
    readTemplates: (tx) => projects.readTemplates(tx, caller(), one("projects"), "p9"),
    insertProject: copied,
    copyEnvironments: copied,
    copyWorkingSets: copied,
    readStored: copied,
    insertOwner: owned,
    insertEnvironment: owned,
  },
  "src/platform/webhooks/queries.ts": {
    readDefinitions: (tx) => webhooks.readDefinitions(tx as unknown as Sql, "hook8"),
    storeDelivery: (tx) => webhooks.storeDelivery(tx as unknown as Sql, delivery()),
    readEvents: async (tx) => {
      const position: webhooks.EventPosition = [Date.now() * 1_000, randomUUID()];
      await webhooks.readEvents(tx, one("projects"), { limit: 51 });
      await webhooks.readEvents(tx, one("projects"), { after: position, limit: 51 });
      await webhooks.readEvents(tx, one("projects"), { before: position, limit: 51 });
    },
    readFullEvent: (tx) => webhooks.readFullEvent(tx, one("projects"), randomUUID()),
    readEvent: (tx) => webhooks.readEvent(tx as unknown as Sql, "hook8", "a key"),
    listDefinitions: async (tx) => {
      await webhooks.listDefinitions(tx, one("projects"), { limit: 51 });
      await webhooks.listDefinitions(tx, one("projects"), { after: ["hook8"], limit: 51 });
      await webhooks.listDefinitions(tx, one("projects"), { before: ["hook8"], limit: 51 });
    },
    hasConversation: (tx) => webhooks.hasConversation(tx, one("projects"), one("conversations")),
    insertDefinition: (tx) =>
      webhooks.insertDefinition(tx, one("projects"), {
        name: "new",
        secret: "a secret",
        enabled: true,
        conversationId: null,
      }),
    deleteDefinition: (tx) => webhooks.deleteDefinition(tx, one("projects"), "hook8"),
  },
  "src/query/questions/queries.ts": {
    addQuestions: (tx) => {
      const tally = { asked: 1, without_hits: 0 };
      const day = { project: one("projects"), day: "2026-01-09", durations: [1], ...tally };
      return questions.addQuestions(tx, [{ ...day, questions: new Map([["a", tally]]) }]);
    },
    deleteQuestions: (tx) => questions.deleteQuestions(tx, "2026-01-02"),
    readQuestionDays: (tx) => questions.readQuestionDays(tx, one("projects"), "2026-01-02"),
    readQuestions: async (tx) => {
      const of = { project: one("projects"), from: "2026-01-02", limit: 50 };
      await questions.readQuestions(tx, { ...of, by: "asked" });
      await questions.readQuestions(tx, { ...of, by: "without_hits" });
    },
  },
  "src/content/scopes/queries.ts": {
    readScope: async (tx) => {
      const targets = [
        { kind: "default" },
        { kind: "environment", name: "env7" },
        { kind: "release", name: "v7" },
        { kind: "release", name: randomUUID() },
      ] as const;
      for (const target of targets) {
        for (const project of ["p8", one("projects")]) {
          await scopes.readScope(tx, caller(), project, target);
          await scopes.readScope(tx, bound(), project, target);
        }
      }
    },
  },
  "src/content/projects/scope-queries.ts": {
    lockServed: (tx) => scopeQueries.lockServed(tx, one("projects"), "env7"),
    copyVersions: async (tx) => {
      for (const kind of ["environment", "release"] as const) {
        const [of] = await tx<{ project: string }[]>`
          SELECT project_id AS project FROM ${tx(`${kind}s`)} WHERE id = ${one(`${kind}s`)}`;
        const project = of?.project as string;
        const to = { name: `copy of an ${kind}` };
        const { id } = await projects.insertEnvironment(tx, project, to);
        await scopeQueries.copyVersions(tx, project, scope(kind), id);
      }
    },
    removeEnvironment: (tx) => scopeQueries.removeEnvironment(tx, one("environments")),
    removeRelease: async (tx) => {
      await tx`UPDATE environments SET active_release_id = NULL
        WHERE active_release_id = ${one("releases")}`;
      await scopeQueries.removeRelease(tx, one("projects"), one("releases"));
    },
  },
  "src/content/projects/contents.ts": {
    readReleases: async (tx) => {
      await contents.readReleases(tx, one("projects"), { limit: 51 });
      await contents.readReleases(tx, one("projects"), { after: ["now", "v7"], limit: 51 });
      await contents.readReleases(tx, one("projects"), { before: ["now", "v7"], limit: 51 });
    },
    listEnvironments: async (tx) => {
      await contents.listEnvironments(tx, one("projects"), { limit: 51 });
      await contents.listEnvironments(tx, one("projects"), { after: ["env7"], limit: 51 });
      await contents.listEnvironments(tx, one("projects"), { before: ["env7"], limit: 51 });
    },
  },
  "src/auth/audit": {
    readAuditEntries: async (tx) => {
      const selection = { projectId: one("projects"), userId: null, limit: 51 };
      const [since, until] = [new Date(0), new Date()];
      await readAuditEntries(tx, selection);
      await readAuditEntries(tx, { ...selection, since, until, after: [1_000] });
      await readAuditEntries(tx, { ...selection, since, until, before: [1_000] });
    },
  },
  "src/auth": {
    findProject: async (tx) => {
      await findProject(tx, caller(), "p8").catch(() => {});
      await findProject(tx, bound(), one("projects")).catch(() => {});
    },
    ApiKeyVerifier: async (tx) => {
      const verifier = new ApiKeyVerifier(tx as unknown as Sql, createLog("silent"));
      await Promise.resolve(verifier.verify(generateKey())).catch(() => {});
      await tx`UPDATE api_keys SET key_hash = ${hashKey(KEY)}, key_prefix = ${KEY_PREFIX}
        WHERE id = ${one("api_keys")}`;
      await verifier.verify(KEY);
      await verifier.close();
    },
    lockMembers: (tx) => lockMembers(tx, one("projects")),
    recordUser: async (tx) => {
      const within = Object.assign(tx, { begin: (work: (tx: Transaction) => unknown) => work(tx) });
      const user = { ...caller(), userId: randomUUID() };
      await recordUser(within as unknown as Sql, user);
    },
  },
};

function sequentialScans(plan: Json): string[] {
  const below = (plan.Plans ?? []).flatMap(sequentialScans);
  const isLarge = plan["Node Type"] === "Seq Scan" && large.has(plan["Relation Name"]);
  return isLarge ? [plan["Relation Name"], ...below] : below;
}

class RollBack extends Error {}

/** Runs in a transaction that is rolled back. Returns the large tables that were scanned sequentially. */
async function largeScans(run: Run): Promise<string[]> {
  const found: string[] = [];
  const work = async (tx: Transaction) => {
    statements.length = 0;
    await run(tx);
    const ran = [...statements];
    // Scans by functions, triggers and foreign keys appear only in the statistics.
    const counted = await tx<{ name: string }[]>`
      SELECT relname AS name FROM pg_stat_xact_user_tables WHERE seq_scan > 0`;
    found.push(...counted.map((row) => row.name).filter((name) => large.has(name)));
    for (const { text, parameters } of ran) {
      for (const kind of KINDS) {
        const explain = `EXPLAIN (${kind}FORMAT JSON) ${text}`;
        const given = kind === "" ? (parameters as string[]) : [];
        const [row] = await tx.unsafe<Record<string, Json>[]>(explain, given);
        const plans = Object.values(row ?? {})[0] as Json;
        found.push(...sequentialScans(plans[0].Plan).map((table) => `${table}: ${text}`));
      }
    }
    throw new RollBack();
  };
  await recording
    .begin((tx) => work(tx as Transaction))
    .catch((error) => {
      if (!(error instanceof RollBack)) throw error;
    });
  return found;
}

describe("query plans on a filled database", () => {
  for (const [file, runs] of Object.entries(RUNS)) {
    for (const [name, run] of Object.entries(runs)) {
      test(`${name} of ${file} scans no large table sequentially`, async () => {
        expect(large.size).toBeGreaterThan(12);
        expect(await largeScans(run)).toEqual([]);
      });
    }
  }

  test("a query that scans a large table sequentially is detected", async () => {
    const reads = await largeScans((tx) => tx`SELECT 1 FROM chunks WHERE content = ${"none"}`);
    expect(reads).toContain("chunks");
    const planned = reads.filter((read) => read.startsWith("chunks: SELECT"));
    expect(planned).toHaveLength(KINDS.length);
  });

  test("every exported query of every feature is checked", async () => {
    const pattern = "src/{content,platform,query}/**/*.ts";
    const all = await Array.fromAsync(new Glob(pattern).scan(PROJECT_ROOT));
    const others = /\/(export|embeddings)\//;
    const found = all.filter((file) => file.endsWith("/queries.ts") && !others.test(file));
    found.push("src/content/chunks.ts", "src/content/compare.ts");
    expect(found.length).toBeGreaterThan(11);
    for (const file of found) {
      const text = await Bun.file(`${PROJECT_ROOT}/${file}`).text();
      const names = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(
        ([, name]) => name,
      );
      expect(Object.keys(RUNS[file] ?? {}).sort(), file).toEqual(names.sort() as string[]);
    }
  });
});
