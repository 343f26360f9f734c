import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { INDEX_REPORTS_CHANNEL } from "../../src/db/channels.ts";
import { DB_STATEMENT_TIMEOUT_MS } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Caller, sharedApi, type TestProject } from "../../support/api/api.ts";
import { addFile } from "../../support/content.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { sql } = api;

async function templateOf(owner: Caller): Promise<TestProject> {
  const template = await api.project(owner);
  const { id } = await addEnvironment(sql, template);
  const file = await addFile(sql, template, "a.md", 1);
  await sql`INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    VALUES (${template.id}, ${id}, ${file.fileId}, ${file.versionId})`;
  return template;
}

const newSlug = () => `copy-${randomUUID()}`;
const copyOf = (template: TestProject, slug: string) => ({
  name: "Copy",
  slug,
  templateSlug: template.slug,
});

/** While `work` runs, a copy with this slug waits for another transaction, however long that takes. */
async function whileCopying(
  owner: Caller,
  template: TestProject,
  work: (slug: string, abort: () => void) => Promise<void>,
): Promise<void> {
  const slug = newSlug();
  const client = new AbortController();
  await sql.begin(async (tx) => {
    await tx`INSERT INTO projects (id, slug, name) VALUES (${randomUUID()}, ${slug}, 'Taken')`;
    const copying = fetch(`${api.url}/projects`, {
      method: "POST",
      headers: { ...owner.headers, "content-type": "application/json" },
      body: JSON.stringify(copyOf(template, slug)),
      signal: client.signal,
    }).catch(() => {});
    await until("the copy waits for the other transaction", async () => (await waiting()) === 1);
    await work(slug, () => client.abort());
    client.abort();
    await copying;
  });
}

/** How many copies wait for another transaction. */
async function waiting(): Promise<number> {
  const rows = await sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO projects%'`;
  return rows.length;
}

describe("while a copy of a project takes long", () => {
  test("further ones of the same user are refused with a reason, and others copy and write", async () => {
    const [owner, other] = [await api.user(), await api.user()];
    const [template, theirs] = [await templateOf(owner), await templateOf(other)];
    await whileCopying(owner, template, async () => {
      const flood = Array.from({ length: 12 }, () =>
        api.post("/projects", copyOf(template, newSlug()), owner),
      );
      for (const { status, body, headers } of await Promise.all(flood)) {
        expect([status, body.slug]).toEqual([503, "overloaded"]);
        expect(body.detail).toContain("copied");
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect((await api.post("/projects", copyOf(theirs, newSlug()), other)).status).toBe(201);
      const plain = { name: "Plain", slug: newSlug() };
      expect((await api.post("/projects", plain, owner)).status).toBe(201);
    });
  });

  test("it ends without effect when its client goes away, and the next one is made", async () => {
    const owner = await api.user();
    const template = await templateOf(owner);
    await whileCopying(owner, template, async (slug, abort) => {
      abort();
      await until(
        "the copy of the client that has left waits no longer",
        async () => (await waiting()) === 0,
      );
      expect(await sql`SELECT FROM projects WHERE slug = ${slug}`).toHaveLength(0);
      await until(
        "a copy is made once the other one has ended",
        async () =>
          (await api.post("/projects", copyOf(template, newSlug()), owner)).status === 201,
      );
    });
  });
});

test("a copy whose client goes away while its quota is reserved ends, and reserves nothing", async () => {
  const owner = await api.user();
  const template = await templateOf(owner);
  const client = new AbortController();
  const reserving = () => sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%reserve_quota%'`;
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE quota_reservations IN ACCESS EXCLUSIVE MODE`;
    const copying = fetch(`${api.url}/projects`, {
      method: "POST",
      headers: { ...owner.headers, "content-type": "application/json" },
      body: JSON.stringify(copyOf(template, newSlug())),
      signal: client.signal,
    }).catch(() => {});
    await until("the reservation waits for the lock", async () => (await reserving()).length === 1);
    client.abort();
    await copying;
    // Statements that wait for the lock end by themselves after some time, and this one before them.
    const timeout = sql
      .begin(async (other) => {
        await other.unsafe(`SET LOCAL statement_timeout = ${DB_STATEMENT_TIMEOUT_MS / 2}`);
        await other`LOCK TABLE quota_reservations IN ACCESS EXCLUSIVE MODE`;
      })
      .catch(() => "timeout");
    const ended = until(
      "the reservation waits no longer",
      async () => (await reserving()).length === 0,
    ).then(() => "ended");
    expect(await Promise.race([ended, timeout])).toBe("ended");
  });
  expect(await sql`SELECT FROM quota_reservations WHERE owner_id = ${owner.userId}`).toHaveLength(
    0,
  );
  await until(
    "a copy is made once the other one has ended",
    async () => (await api.post("/projects", copyOf(template, newSlug()), owner)).status === 201,
  );
});

test("copies that take no time are all made, however many are asked for at once", async () => {
  const owner = await api.user();
  const template = await templateOf(owner);
  const copies = Array.from({ length: 8 }, async () => {
    const json = copyOf(template, newSlug());
    // On a busy machine one may wait too long for its turn.
    await until(
      "the copy is made",
      async () => (await api.post("/projects", json, owner)).status === 201,
    );
  });
  await Promise.all(copies);
});

test("a copy is indexed by the first request that asks for it, and not before", async () => {
  const owner = await api.user();
  const template = await templateOf(owner);
  const { body: copy } = await api.post("/projects", copyOf(template, newSlug()), owner);
  // A change of another project that comes later is indexed at once.
  const later = await templateOf(owner);
  const isLoaded = async (id: string) => {
    await sql.notify(INDEX_REPORTS_CHANNEL, "");
    return (await sql`SELECT FROM index_state WHERE project_id = ${id}`).length > 0;
  };
  await until("the project that changed later is loaded", () => isLoaded(later.id));
  expect(await isLoaded(copy.id)).toBe(false);
  const path = `/projects/${copy.slug}/knowledge/lookup`;
  const { body } = await api.post(path, { query: "contents" }, owner);
  expect(body.total_matches).toBe(1);
  await until("the copy that was searched is loaded", () => isLoaded(copy.id));
});

test("a copy that nobody has searched is complete soon after somebody asks for the state of its index", async () => {
  const owner = await api.user();
  const slug = newSlug();
  const template = await templateOf(owner);
  expect((await api.post("/projects", copyOf(template, slug), owner)).status).toBe(201);
  await until(
    "the index of the copy is complete",
    async () => (await api.get(`/projects/${slug}/index-state`, owner)).body.complete,
  );
});
