import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { OPERATOR } from "../../../../src/auth/audit/actor.ts";
import { importRecords } from "../../../../src/content/import/import-records.ts";
import type { InputRecord } from "../../../../src/content/import/records/batches.ts";
import { parseRecord } from "../../../../src/content/import/records/parse.ts";
import { NEW_VERSIONS_CHANNEL } from "../../../../src/db/channels.ts";
import { CHANGE_VISIBLE_BOUND_MS } from "../../../../src/domain/limits.ts";
import { addEnvironment, addProject, addUser } from "../../../../support/accounts.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";
import { until } from "../../../../support/until.ts";

const { sql } = await createTestDatabase();
const BATCHES = 4;
/** Longer than any test may take. */
const FOR_EVER_MS = 86_400_000;

/** A project whose newest change is some seconds old. */
async function changedProject() {
  const project = await addProject(sql, await addUser(sql));
  const environment = await addEnvironment(sql, project);
  await sql`SELECT append_change(${project.id}, 'environment', ${environment.id})`;
  await sql`UPDATE change_log SET at = at - interval '5 seconds'`;
  return project;
}

/** A report of a service that has indexed this far. */
async function report(projectId: string, isBehind: boolean, ageSeconds = 0) {
  const node = randomUUID();
  const update = async (behind: boolean) => {
    await sql`DELETE FROM index_state WHERE node_id = ${node}`;
    await sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
        updated_at)
      SELECT ${node}, ${projectId}, 768, CASE WHEN ${behind} THEN 0 ELSE max(seq) END, 0, 0, 0,
        now() - make_interval(secs => ${ageSeconds}) FROM change_log`;
  };
  await update(isBehind);
  return { update, stop: () => sql`DELETE FROM index_state WHERE node_id = ${node}` };
}

/** A report of a service where announced versions have been waiting for so long. */
async function reportWaiting(projectId: string, waitingMs: number) {
  const node = randomUUID();
  await sql`
    INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
      waiting_ms)
    VALUES (${node}, ${projectId}, 0, 0, 0, 0, 0, ${waitingMs})`;
  return {
    caughtUp: () => sql`UPDATE index_state SET waiting_ms = 0 WHERE node_id = ${node}`,
    stop: () => sql`DELETE FROM index_state WHERE node_id = ${node}`,
  };
}

/** Imports files of the project in batches; `written` counts those that are written. */
function startImport(slug: string, options: { readonly indexWaitMaxMs?: number } = {}) {
  const progress = { written: 0 };
  async function* batches(): AsyncGenerator<InputRecord[]> {
    for (let i = 0; i < BATCHES; i++) {
      const record = { record: "file", project: slug, path: `${i}.md`, content: `text ${i}` };
      yield [{ where: `line ${i}`, parsed: parseRecord(record) }];
    }
  }
  const done = importRecords(sql, batches(), {
    ...options,
    actor: OPERATOR,
    strict: false,
    onRejected: (where, reason) => expect.unreachable(`${where}: ${reason}`),
    onBatch: () => void progress.written++,
  });
  return { progress, done };
}

/** A strict import of so many files. */
function importStrictly(project: { id: string; slug: string }, files: number, more: object[] = []) {
  async function* batches(): AsyncGenerator<InputRecord[]> {
    const common = { project: project.slug, environments: ["large"] };
    const records = Array.from({ length: files }, (_, i) => ({
      ...common,
      record: "file",
      path: `${i}.md`,
      content: `text ${i}`,
    }));
    const environment = { record: "environment", project: project.slug, name: "large" };
    yield [environment, ...records, ...more].map((record) => ({
      where: "",
      parsed: parseRecord(record),
    }));
  }
  return importRecords(sql, batches(), {
    actor: OPERATOR,
    strict: true,
    onRejected() {},
    target: { ...project, asOwner: true },
  });
}

/** Resolves when a waiting import has looked for lagging indexes several times. */
async function severalChecks(): Promise<void> {
  const seen = new Set<string>();
  await until("the import has looked three times", async () => {
    const rows = await sql<{ at: string }[]>`
      SELECT query_start::text AS at FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE ANY (ARRAY['%AS hides', '%pg_notify($1, at::text)%']) AND pid <> pg_backend_pid()`;
    for (const { at } of rows) seen.add(at);
    return seen.size >= 3;
  });
}

describe("an import while indexes lag", () => {
  test("an import pauses while a running service lags in its project, and goes on when it has caught up", async () => {
    const project = await changedProject();
    const reported = await report(project.id, true);
    const { progress, done } = startImport(project.slug);
    await severalChecks();
    expect(progress.written).toBeLessThan(BATCHES);
    await reported.update(false);
    await done;
    expect(progress.written).toBe(BATCHES);
    await reported.stop();
  });

  test("an import pauses while versions that it announced wait for too long to be indexed", async () => {
    const project = await addProject(sql, await addUser(sql));
    const reported = await reportWaiting(project.id, CHANGE_VISIBLE_BOUND_MS + 1);
    const { progress, done } = startImport(project.slug);
    await severalChecks();
    expect(progress.written).toBeLessThan(BATCHES);
    await reported.caughtUp();
    await done;
    expect(progress.written).toBe(BATCHES);
    await reported.stop();
  });

  test("an import says after its last record that it waits for the services, and what it does", async () => {
    const project = await changedProject();
    const reported = await report(project.id, true);
    async function* batches(): AsyncGenerator<InputRecord[]> {
      const common = { project: project.slug, environments: ["said"], releases: ["v1", "v2"] };
      const records = [
        { record: "environment", project: project.slug, name: "said" },
        ...["v1", "v2"].map((name) => ({ record: "release", project: project.slug, name })),
        { ...common, record: "file", path: "a.md", content: "text" },
      ];
      yield records.map((record) => ({ where: "", parsed: parseRecord(record) }));
    }
    const steps: string[] = [];
    const done = importRecords(sql, batches(), {
      actor: OPERATOR,
      strict: false,
      indexWaitMaxMs: FOR_EVER_MS,
      onRejected: (where, reason) => expect.unreachable(`${where}: ${reason}`),
      onFinishing: (step) => void steps.push(step),
    });
    await severalChecks();
    await reported.update(false);
    await done;
    expect(steps.filter((step) => !step.startsWith("waiting"))).toEqual([
      "filling releases, 2 of 2",
      "changing environments, 1 of 1",
      "counting messages",
    ]);
    await reported.stop();
  });

  test("an import waits neither for a service that stopped reporting nor for other projects", async () => {
    const project = await changedProject();
    const stopped = await report(project.id, true, 3_600);
    const other = await report((await changedProject()).id, true);
    // An import that waited would wait for ever.
    await startImport(project.slug, { indexWaitMaxMs: FOR_EVER_MS }).done;
    await stopped.stop();
    await other.stop();
  });

  test("a strict import of many files is over once the running services show it", async () => {
    const project = await changedProject();
    // Fresh for as long as the import takes on a busy machine.
    const reported = await report(project.id, true, -3_600);
    const imported = importStrictly(project, 5_000);
    await severalChecks();
    await reported.update(false);
    expect((await imported).changedRecords).toBe(5_001);
    await reported.stop();
  });

  test("services are told of a project before a strict import changes it, and even if it is refused", async () => {
    const project = await changedProject();
    const told = Promise.withResolvers<string>();
    const listening = await sql.listen(NEW_VERSIONS_CHANNEL, told.resolve);
    const approval = { record: "branch_approval", branch_id: project.id, approved_by: project.id };
    expect((await importStrictly(project, 1, [approval])).rejected).toBe(1);
    expect(await told.promise).toBe(project.id);
    await listening.unlisten();
  });

  test("an import is not held up for long by a service that never catches up", async () => {
    const project = await changedProject();
    const reported = await report(project.id, true);
    const { progress, done } = startImport(project.slug, { indexWaitMaxMs: 600 });
    await done;
    expect(progress.written).toBe(BATCHES);
    await reported.stop();
  });
});

test("imports of the same files at once store each file once, and it counts as changed in one of them or in both", async () => {
  const project = await addProject(sql, await addUser(sql));
  await addEnvironment(sql, project, "production");
  const files = Array.from({ length: 400 }, (_, i) =>
    parseRecord({
      record: "file",
      project: project.slug,
      path: `${i}.md`,
      environments: ["production"],
      content: `text ${i}`,
    }),
  );
  async function* batches(size: number): AsyncGenerator<InputRecord[]> {
    for (let at = 0; at < files.length; at += size) {
      yield files.slice(at, at + size).map((parsed) => ({ where: "", parsed }));
    }
  }
  const importInBatches = (size: number) =>
    importRecords(sql, batches(size), { actor: OPERATOR, strict: false, onRejected() {} });
  const reports = await Promise.all([30, 70].map(importInBatches));
  for (const { rejected, records, changedRecords } of reports) {
    expect([rejected, records]).toEqual([0, files.length]);
    expect(changedRecords).toBeLessThanOrEqual(files.length);
  }
  // One import may store a version that the other, which ends first, puts into the working set.
  const [first = 0, second = 0] = reports.map(({ changedRecords }) => changedRecords);
  expect(first + second).toBeGreaterThanOrEqual(files.length);
  const [stored] = await sql`
    SELECT (SELECT count(*)::integer FROM file_versions WHERE project_id = ${project.id}) AS versions,
      (SELECT count(*)::integer FROM environment_files WHERE project_id = ${project.id}) AS visible`;
  expect({ ...stored }).toEqual({ versions: files.length, visible: files.length });
  expect((await importInBatches(files.length)).changed).toBe(0);
});
