import { describe, expect, test } from "bun:test";
import { INDEX_REPORTS_CHANNEL } from "../../../../src/db/channels.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { untilShown } from "../../../../src/index/changes/visibility.ts";
import { addProject, addUser } from "../../../../support/accounts.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";
import { until } from "../../../../support/until.ts";

const { sql } = await createTestDatabase();
await migrate(sql);
const project = await addProject(sql, await addUser(sql));
const server = crypto.randomUUID();
const POSITION = { seq: 7, at: "" };
const BEFORE = POSITION.seq - 1;

const YEAR_SECONDS = 31_536_000;
/** Later than any request for reports of a test. */
const LATER = Date.now() / 1_000 + YEAR_SECONDS;

const reports = (seq: number, own?: number, answered = LATER) =>
  sql.begin(async (tx) => {
    await tx`DELETE FROM index_state`;
    await tx`INSERT INTO index_nodes (id, seq, answered) VALUES (${server}, ${seq}, ${answered})
      ON CONFLICT (id) DO UPDATE
      SET seq = excluded.seq, answered = excluded.answered, updated_at = now()`;
    if (own === undefined) return;
    await tx`INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes)
      VALUES (${server}, ${project.id}, 0, ${own}, 0, 0, 0)`;
  });
const shown = (timeoutMs: number) =>
  untilShown(sql, {
    projects: [project.id],
    position: POSITION,
    signal: AbortSignal.timeout(timeoutMs),
  });

describe("waiting until searches see a position", () => {
  test("ends at once where no server runs", async () => {
    expect(await shown(60_000)).toBe(true);
  });

  test("asks servers to report, and ends when they have read the log and show the project", async () => {
    let asked = 0;
    const answers = [() => reports(BEFORE), () => reports(POSITION.seq, -1), () => reports(9, 9)];
    await sql.listen(INDEX_REPORTS_CHANNEL, () => void answers[asked++]?.());
    await reports(0);
    expect(await shown(60_000)).toBe(true);
    expect(asked).toBeGreaterThanOrEqual(answers.length);
  });

  test("ends in time for a server that does not show it, and for one that has read the log only", async () => {
    await reports(9, BEFORE);
    expect(await shown(100)).toBe(false);
    await reports(9);
    expect(await shown(100)).toBe(true);
  });

  test("does not end before a server has answered a request, which it hears after changes of access", async () => {
    await reports(9, 9, 0);
    expect(await shown(100)).toBe(false);
    const heard = Promise.withResolvers<number>();
    await sql.listen(INDEX_REPORTS_CHANNEL, (at) => heard.resolve(Number(at)));
    const waiting = shown(60_000);
    await reports(9, 9, (await heard.promise) - 1);
    expect(await Promise.race([waiting, Bun.sleep(200)])).toBeUndefined();
    await reports(9, 9, await heard.promise);
    expect(await waiting).toBe(true);
  });

  test("asks nobody for an import, if servers have shown what it waits for", async () => {
    await reports(9, 9, 0);
    const asked: string[] = [];
    await sql.listen(INDEX_REPORTS_CHANNEL, (at) => void asked.push(at));
    const [projects, signal] = [[project.id], AbortSignal.timeout(100)];
    const wait = { projects, position: POSITION, signal, announced: true };
    expect(await untilShown(sql, wait)).toBe(true);
    await sql`SELECT pg_notify(${INDEX_REPORTS_CHANNEL}, 'end')`;
    await until("the notification has arrived", () => asked.includes("end"));
    expect(asked).toEqual(["end"]);
    await reports(BEFORE, BEFORE, 0);
    expect(await untilShown(sql, wait)).toBe(false);
  });

  test("ends for a server that hears no requests once its caches have expired", async () => {
    await reports(9, 9, 0);
    const waiting = shown(60_000);
    await sql`UPDATE index_nodes SET updated_at = now() + interval '1 minute'`;
    expect(await waiting).toBe(true);
  });

  test("ends for a server that has stopped reporting", async () => {
    await reports(0);
    await sql`UPDATE index_nodes SET updated_at = now() - interval '1 hour'`;
    expect(await shown(60_000)).toBe(true);
  });
});
