import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { IMPORT_PACE_BYTES } from "../../src/domain/limits.ts";
import { startApi, type TestProject } from "../../support/api/api.ts";
import { allChanged, file, importsOf, openUpload, PRODUCTION } from "../../support/api/imports.ts";
import { addConversation } from "../../support/content.ts";
import { ndjson } from "../../support/ndjson.ts";
import { openTransaction } from "../../support/open-transaction.ts";
import { until } from "../../support/until.ts";

const api = await startApi();
const { sql } = api;
const attacker = await api.user();
const victim = await api.user();
const { report } = importsOf(api, victim);
const attack = importsOf(api, attacker);
const STRICT = "?strict=true";
const PACE_MS = 500;

/** Imports a file for the victim, and creates a project from a template. */
async function victimWorks(): Promise<void> {
  const project = await api.project(victim);
  expect(await report(project, [PRODUCTION, file("a.md")])).toEqual(allChanged(2));
  const strict = await report(project, [file("b.md"), file("c.md")], { strict: true });
  expect(strict).toEqual(allChanged(2));
  const created = await api.send("POST", "/projects", {
    as: victim,
    json: { slug: `copy-${randomUUID()}`, name: "Copy", templateProjectId: project.id },
  });
  expect(created.status, created.text).toBe(201);
}

async function isPending(answer: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([answer, Bun.sleep(0).then(() => pending)])) === pending;
}

async function withFile(project: TestProject): Promise<TestProject> {
  await attack.report(project, [PRODUCTION, file("a.md")]);
  return project;
}

describe("while a tenant's strict uploads stall", () => {
  test("all others import and copy projects, whatever rows the uploads name", async () => {
    const project = await withFile(await api.project(attacker));
    const conversation = await addConversation(sql, attacker, project);
    const uploads = [0, 1].map(() => openUpload(api, project, attacker, STRICT));
    for (const [i, upload] of uploads.entries()) {
      const message = {
        record: "message",
        conversation_id: conversation,
        seq: i + 1,
        role: "user",
      };
      const release = { record: "release", name: `v${i}`, environment: "production" };
      await upload.write(ndjson([message, file(`${i}.md`), release]));
    }
    // Blank lines keep an upload from being ended for its pace, however long the work of others takes.
    const blank = "\n".repeat(IMPORT_PACE_BYTES);
    const pace = setInterval(() => uploads.map((upload) => upload.write(blank)), PACE_MS);
    await victimWorks();
    clearInterval(pace);
    for (const { answer } of uploads) expect(await isPending(answer)).toBe(true);
    for (const upload of uploads) await upload.end();
    for (const { answer } of uploads) {
      expect(await (await answer).json()).toEqual(allChanged(3));
    }
  });

  test("projects that import a webhook with the same id at the same time have one each", async () => {
    const id = `hook-${randomUUID()}`;
    const project = await api.project(attacker);
    const upload = openUpload(api, project, attacker, STRICT);
    await upload.write(ndjson([{ record: "webhook_definition", id, secret: "s" }]));
    const theirs = await api.project(victim);
    const hook = { record: "webhook_definition", id, secret: "t" };
    expect(await report(theirs, [hook])).toEqual(allChanged(1));
    await upload.end();
    expect(await (await upload.answer).json()).toEqual(allChanged(1));
    for (const secret of ["s", "t"]) {
      const headers = { "x-service-webhook-secret": secret };
      const { body } = await api.send("POST", `/webhooks/${id}`, { headers, json: {} });
      expect(body.project_id).toBe(secret === "s" ? project.id : theirs.id);
    }
  });

  test("a strict upload of many pieces is imported as it was sent", async () => {
    const project = await api.project(attacker);
    const upload = openUpload(api, project, attacker, STRICT);
    const lines = [PRODUCTION, ...Array.from({ length: 300 }, (_, i) => file(`${i}.md`))];
    const text = ndjson(lines);
    for (let at = 0; at < text.length; at += 7_001) {
      await upload.write(text.slice(at, at + 7_001));
      if (at % 5 === 0) await Bun.sleep(2);
    }
    await upload.end();
    expect(await (await upload.answer).json()).toEqual(allChanged(lines.length));
  });
});

describe("while a transaction that has changed scopes of a project stays open", () => {
  test("the other projects are written, copied and searched", async () => {
    const project = await withFile(await api.project(attacker));
    const { commit: end } = await openTransaction(sql, async (tx) => {
      await tx`DELETE FROM environment_files WHERE project_id = ${project.id}`;
      await tx`SELECT append_change(${project.id}, 'rebuild', ${project.id})`;
    });
    await victimWorks();
    await end();
    expect(await attack.working(project)).toEqual([]);
  });

  test("its changes become visible at its commit, after later numbers of others", async () => {
    const project = await withFile(await api.project(attacker));
    const theirs = await api.project(victim);
    await report(theirs, [PRODUCTION]);
    const lookup = async () => {
      const path = `/projects/${project.slug}/knowledge/lookup`;
      const { body } = await api.send("POST", path, { as: attacker, json: { limit: 12 } });
      return body.data.map((item: { path: string }) => item.path);
    };
    const untilFound = (paths: readonly string[]) =>
      until(`a lookup finds [${paths}]`, async () => `${await lookup()}` === `${paths}`);
    await untilFound(["a.md"]);
    const { commit: end } = await openTransaction(
      sql,
      (tx) => tx`DELETE FROM environment_files WHERE project_id = ${project.id}`,
    );
    for (let i = 0; i < 5; i++) await report(theirs, [file(`${i}.md`)]);
    expect(await lookup()).toEqual(["a.md"]);
    await end();
    await untilFound([]);
  });

  test("a scope that changes repeatedly in one transaction is logged once, after a savepoint that fails, too", async () => {
    const project = await withFile(await api.project(attacker));
    const entries = async () => {
      const rows = await sql<{ kind: string }[]>`
        SELECT kind FROM change_log WHERE project_id = ${project.id} ORDER BY seq`;
      return rows.map(({ kind }) => kind);
    };
    const before = await entries();
    await sql.begin(async (tx) => {
      const fails = tx.savepoint(async (inner) => {
        await inner`UPDATE environment_files SET file_id = file_id WHERE project_id = ${project.id}`;
        throw new Error("rolled back");
      });
      await expect(fails).rejects.toThrow("rolled back");
      for (let i = 0; i < 3; i++) {
        await tx`UPDATE environment_files SET file_id = file_id WHERE project_id = ${project.id}`;
      }
    });
    expect(await entries()).toEqual([...before, "environment"]);
    const [left] = await sql`SELECT count(*)::integer AS count FROM change_pending`;
    expect(left?.["count"]).toBe(0);
  });
});

describe("an import that needs a row that another transaction keeps", () => {
  test("is refused after a while and has changed no scope, and holds up nobody meanwhile", async () => {
    const project = await withFile(await api.project(attacker));
    const conversation = await addConversation(sql, attacker, project);
    const id = `hook-${randomUUID()}`;
    const { commit: end } = await openTransaction(sql, async (tx) => {
      await tx`SELECT FROM conversations WHERE id = ${conversation} FOR UPDATE`;
      await tx`INSERT INTO webhook_definitions (id, name, project_id, secret_hash)
        VALUES (${id}, ${id}, ${project.id}, sha256('s'))`;
    });
    const named = { record: "conversation", id: conversation, created_by: attacker.userId };
    const answers = [
      attack.post(project, [file("b.md"), { ...named, title: "x" }], { strict: true }),
      attack.post(project, [file("c.md"), { record: "webhook_definition", id, secret: "s" }]),
    ];
    await victimWorks();
    for (const answer of answers) {
      const { status, body } = await answer;
      expect(status).toBe(503);
      expect(body.slug).toBe("overloaded");
    }
    expect(await attack.working(project)).toEqual(["a.md"]);
    await end();
    const repeated = await attack.report(project, [file("b.md"), file("c.md")]);
    expect(repeated).toMatchObject({ changed: 2 });
  });
});
