import { afterEach, describe, expect, test } from "bun:test";
import { AuditLog } from "../../src/auth/audit/audit-log.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import { startApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";

const FLUSH_MS = 20;

const api = await startApi();
const { sql } = api;
const owner = await api.user({ email: "owner@example.com" });

afterEach(async () => {
  await sql`DELETE FROM audit_log`;
});

async function entries(action?: string): Promise<Json[]> {
  return await sql`
    SELECT action, via, user_id, key_id, request_id, project_id, details FROM audit_log
    WHERE ${action ?? null}::text IS NULL OR action = ${action ?? null} ORDER BY id`;
}

describe("the audit log", () => {
  test("has changes of memberships that name no actor, and none that change nothing", async () => {
    const project = await api.project(owner);
    const member = await api.user();
    await api.join(member, project);
    await sql`UPDATE memberships SET role = 'editor' WHERE user_id = ${member.userId}`;
    await sql`UPDATE memberships SET role = 'editor' WHERE user_id = ${member.userId}`;
    await sql`DELETE FROM memberships WHERE user_id = ${member.userId}`;
    const details = { member: member.userId };
    const found = (await entries()).filter((entry) => entry.details.member === member.userId);
    expect(found).toMatchObject([
      { action: "member.added", via: null, details: { ...details, role: "member" } },
      { action: "member.changed", details: { role: "editor", earlier_role: "member" } },
      { action: "member.removed", details: { ...details, role: "editor" } },
    ]);
  });

  test("has an import over HTTP that fails", async () => {
    const project = await api.project(owner);
    const small = await startApi({ beside: api, env: { IMPORT_MAX_BYTES: "100" } });
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(200));
        controller.close();
      },
    });
    await small.send("POST", `/projects/${project.slug}/import`, {
      as: owner,
      body: stream as never,
      headers: { "content-type": "application/x-ndjson" },
    });
    expect((await entries("import")).at(-1).details).toEqual({
      strict: false,
      failed: "payload-too-large",
    });
  });

  test("has denials, equal ones as one entry with their number", async () => {
    const project = await api.project(owner);
    const limited = await api.key(owner, { scopes: ["chunks.read"] });
    const other = await startApi({ beside: api });
    for (let i = 0; i < 5; i++) await other.get(`/projects/${project.slug}`, limited);
    await other.get("/projects");
    // The end of a service writes what it has noted since the last time.
    await other.stop();
    const id = expect.any(String);
    expect(await entries("denied")).toMatchObject([
      {
        user_id: owner.userId,
        key_id: limited.id,
        request_id: id,
        details: { operation: "getProject", slug: "permission-denied", count: 5 },
      },
      {
        user_id: null,
        key_id: null,
        details: { operation: "listProjects", slug: "unauthorized", count: 1 },
      },
    ]);
  });

  test("has denials while the service runs", async () => {
    const audit = new AuditLog(sql, createLog("silent"), FLUSH_MS);
    const denial = { principal: undefined, operation: "listProjects", slug: "unauthorized" };
    audit.denied({ ...denial, detail: "no credential", requestId: "an id" });
    await until("the denial is stored", async () => (await entries("denied")).length > 0);
    expect(await entries("denied")).toMatchObject([{ request_id: "an id", details: { count: 1 } }]);
    await audit.close();
  });

  test("is read by `tessera audit`, for a project, a user or an action", async () => {
    const project = await api.project(owner);
    const other = await api.project(owner);
    await importsOf(api, owner).post(project, [PRODUCTION]);
    const env = { DATABASE_URL: api.databaseUrl };
    const audit = async (...args: string[]) => {
      const { status, stdout } = await callCommand(["audit", ...args], { env });
      expect(status).toBe(0);
      return stdout;
    };
    expect(await audit()).toMatch(/time +action +by +project +details\n/);
    const lines = (await audit("--project", project.slug, "--json")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { action: "project.created", project: project.slug },
      { action: "member.added", project: project.slug },
      { action: "environment.created", user: "owner@example.com" },
      { action: "import", user: "owner@example.com", details: { lines: 1 } },
    ]);
    expect(await audit("--action", "import")).not.toContain(other.slug);
    expect(await audit("--user", "OWNER@example.com", "--limit", "1", "--json")).toContain(
      "import",
    );
    expect(await audit("--since", "2099-01-01T00:00:00Z", "--json")).toBe("");
    const unknown = await callCommand(["audit", "--user", "ownr@example.com"], { env });
    expect(unknown).toMatchObject({ status: 1, stdout: "" });
    expect(unknown.stderr).toContain("did you mean owner@example.com?");
  });
});
