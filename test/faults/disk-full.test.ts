import { expect, test } from "bun:test";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startApiProcess, TestApi } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { jsonLines, ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { startOwnPostgres } from "../../support/processes/own-postgres.ts";
import {
  giveToOwnerOf,
  lacksSmallDisks,
  mountSmallDisk,
} from "../../support/processes/small-disk.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

/** What deliveries and imports write; the log of PostgreSQL stays on a disk with space. */
const TABLES = [
  "conversations",
  "messages",
  "runs",
  "webhook_events",
  "files",
  "file_versions",
  "chunks",
];
const DISK_MB = 24;

// Mounted before PostgreSQL starts, so that it is there until PostgreSQL has ended.
const withoutDisk = lacksSmallDisks();
const disk = withoutDisk ? undefined : await mountSmallDisk(DISK_MB);
const postgres = await startOwnPostgres();
const { sql, url } = postgres;
if (disk !== undefined) {
  const space = join(disk.path, "space");
  mkdirSync(space);
  giveToOwnerOf(space, postgres.cluster);
  await sql.unsafe(`CREATE TABLESPACE small LOCATION '${space}'`);
  for (const table of TABLES) await sql.unsafe(`ALTER TABLE ${table} SET TABLESPACE small`);
}
// A rollback does not take back what a sequence has counted.
await sql.unsafe(`
  CREATE SEQUENCE attempts;
  CREATE FUNCTION count_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM nextval('attempts'); RETURN NULL; END $$;
  CREATE TRIGGER count_attempt BEFORE INSERT ON conversations
    FOR EACH STATEMENT EXECUTE FUNCTION count_attempt()`);

const api = await startApiProcess({
  beside: new TestApi("", sql, url, async () => {}),
  env: { LOG_LEVEL: "error" },
});
await untilReady(api.url);
const world = await TestWorld.create(api);
await world.write(1);
const webhook = await addWebhook(sql, world.project);

/** Larger than what the last pages have left. */
const PAYLOAD = { text: Array.from({ length: 8_000 }, () => randomUUID()).join("") };
const deliver = (key: string) =>
  api.send("POST", webhook.path, {
    headers: { ...webhook.headers, "idempotency-key": key },
    json: PAYLOAD,
  });

/** How often the service has tried to store a delivery since the last call. */
async function attempts(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    SELECT nextval('attempts')::int - 1 AS count, setval('attempts', 1, false)`;
  return row.count;
}

test.skipIf(withoutDisk)(
  "on a full disk a delivery is refused at its first attempt and definitely, reads go on, and space ends it",
  async () => {
    await using filled = disk?.fill();
    const key = randomUUID();
    await attempts();
    for (let i = 0; i < 3; i++) {
      const { status, body, headers } = await deliver(key);
      expect([status, body.slug]).toEqual([503, "dependency-unavailable"]);
      expect(body.detail).toBe("The database has no disk space left.");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await attempts()).toBe(1);
    }
    expect(await storedRows(sql, webhook)).toMatchObject({ events: 0 });
    await world.agrees(api.url);
    const reasons = api.server.logs().match(/no disk space left/g) ?? [];
    expect(reasons).toHaveLength(1);
    expect(api.server.logs()).toContain("53100");

    await filled?.end();
    const { status, body } = await deliver(key);
    expect([status, body.duplicate]).toEqual([200, false]);
    expect(await storedRows(sql, webhook)).toMatchObject({ events: 1, runs: 1 });
  },
);

test.skipIf(withoutDisk)(
  "an import on a full disk says so with the remedy, keeps its earlier batches, and can be repeated",
  async () => {
    const { slug } = world.project;
    const lines = Array.from({ length: 60 }, (_, i) => ({
      record: "file",
      project: slug,
      path: `import/${i}.md`,
      environments: ["production"],
      // One word, which is indexed sooner than thousands, and which the database cannot compress.
      content: randomBytes(54_000).toString("hex"),
    }));
    const stdin = ndjson(lines);
    const run = () => callCommand(["import", "-"], { env: { DATABASE_URL: url }, stdin });
    await using filled = disk?.fill();
    const refused = await run();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("the disk of the database is full: free some space");
    expect(refused.stderr).not.toContain("does not answer");
    await filled?.end();
    const repeated = await run();
    // On a busy machine it also says that it waits for the index.
    expect(repeated.stderr.replace(/^tessera: .*: waiting until .*\n/gm, "")).toBe("");
    expect(repeated.status).toBe(0);
  },
);

test.skipIf(withoutDisk)(
  "a service whose data directory is full starts and searches, and says that commands do not find it",
  async () => {
    await using _filled = disk?.fill();
    const full = await startApiProcess({
      beside: api,
      env: { LOG_LEVEL: "warn", DATA_DIR: join(disk?.path ?? "", "data") },
    });
    await untilReady(full.url);
    await world.agrees(full.url);
    expect(full.server.logs()).toContain("commands do not find this service");
    await full.server.stop();
  },
);

test.skipIf(withoutDisk)(
  "doctor fails on a full disk with the remedy, and goes on with its other checks",
  async () => {
    await using _filled = disk?.fill();
    const env = { DATABASE_URL: url, DATA_DIR: join(disk?.path ?? "", "doctor") };
    const { status, stdout } = await callCommand(["doctor", "--json"], { env });
    const findings = jsonLines(stdout);
    const of = (check: string) => findings.find((finding) => finding.check === check);
    expect(of("disk")).toMatchObject({
      state: "failed",
      found: expect.stringMatching(/^full: 0\.0 GiB free in /),
      remedy: expect.stringContaining("free some space"),
    });
    for (const check of ["database", "schema", "redis", "billing"]) {
      expect(of(check)?.state, check).toBe("ok");
    }
    expect(status).toBe(1);
  },
);

test("the other shortages of a server have answers of their own and are not retried", async () => {
  const raise = async (state: string) => {
    await sql.unsafe(`
      CREATE OR REPLACE FUNCTION short_of() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'short' USING ERRCODE = '${state}'; END $$;
      CREATE OR REPLACE TRIGGER short_of BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION short_of()`);
  };
  const details = {
    "25006": "The database accepts no changes at present.",
    "53200": "The database is out of memory.",
    "53300": "The database has no connection left.",
    "53400": "The database lacks resources.",
  };
  for (const [state, detail] of Object.entries(details)) {
    await raise(state);
    await attempts();
    const { status, body } = await deliver(randomUUID());
    expect([status, body.slug, body.detail]).toEqual([503, "dependency-unavailable", detail]);
    expect(await attempts()).toBe(1);
  }
  await sql`DROP TRIGGER short_of ON runs`;
  expect((await deliver(randomUUID())).status).toBe(200);
});
