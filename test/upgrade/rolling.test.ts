import { describe, expect, test } from "bun:test";
import type { Sql } from "../../src/db/client.ts";
import { shippedMigrations } from "../../src/db/migrate.ts";
import { sessionOf } from "../../src/db/session/session.ts";
import type { Project } from "../../support/accounts.ts";
import { untilReady } from "../../support/api/index-world.ts";
import { base64Of, randomVector } from "../../support/api/versions.ts";
import { keyed } from "../../support/api/webhook-deliveries.ts";
import { lacksLastRelease, lastRelease } from "../../support/processes/last-release.ts";
import { createEmptyDatabase } from "../../support/processes/postgres.ts";
import { runCommand, startServer } from "../../support/processes/process.ts";
import { addWebhook } from "../../support/webhooks.ts";

const WAIT_MS = 60_000;
/** The native core of the last release may have to be compiled. */
const TIMEOUT_MS = 900_000;
const NEWEST = shippedMigrations().at(-1)?.version as number;

/** Requests of one client to one process. Answers are not compared with a document, since versions differ. */
function clientOf(url: string, key: string) {
  const send = async (method: string, path: string, body?: object | string, more = {}) => {
    const json = typeof body === "object";
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        "x-api-key": key,
        "content-type": json ? "application/json" : "text/markdown",
        ...more,
      },
      ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : body }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${text}`).toBe(true);
    return JSON.parse(text);
  };
  return { url, key, send };
}
type Client = ReturnType<typeof clientOf>;

const vectorOf = (seed: number) => base64Of(randomVector(768, seed));

/** A file with a vector and words of its own, by import. */
async function importFile({ send }: Client, name: string, seed: number): Promise<void> {
  const record = {
    ...{ record: "file", path: `${name}.md`, environments: ["production"], content: `# ${name}\n` },
    chunks: [{ content: name, embedding: vectorOf(seed) }],
  };
  const headers = { "content-type": "application/x-ndjson" };
  const { errors } = await send("POST", "/projects/docs/import", JSON.stringify(record), headers);
  expect(errors).toEqual([]);
}

/** Waits until a search finds the file with the vector of this seed, and a lookup its name. */
async function untilFound({ send }: Client, name: string, seed: number): Promise<void> {
  const query = { vector: vectorOf(seed), dimension: 768 };
  for (const end = Date.now() + WAIT_MS; ; await Bun.sleep(50)) {
    const found = await send("POST", "/projects/docs/environments/production/search", query);
    const looked = await send("POST", "/projects/docs/knowledge/lookup", { query: name });
    const paths = [found, looked].map(({ data }) => JSON.stringify(data[0] ?? ""));
    if (paths.every((text) => text.includes(`${name}.md`))) return;
    expect(Date.now(), paths.join("\n")).toBeLessThan(end);
  }
}

describe("a rolling upgrade from the last release", () => {
  test.skipIf(lacksLastRelease())(
    "both versions import, write, search, look up, receive deliveries and create keys on one database, until the old one is stopped",
    async () => {
      const root = lastRelease();
      const { sql, url } = await createEmptyDatabase(
        "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'",
      );
      const name = new URL(url).pathname.slice(1);
      // The last release relies on the usual settings of a database, and those of the tests are not.
      for (const [setting, value] of Object.entries(sessionOf(url).parameters)) {
        const text = setting === "search_path" ? value : `'${value}'`;
        await sql.unsafe(`ALTER DATABASE ${name} SET ${setting} = ${text}`);
      }
      const env = { DATABASE_URL: url };
      const previous = await startServer({ root, env });
      const [before] = await sql`SELECT max(version)::integer AS version FROM schema_migrations`;
      const from = before?.["version"] as number;
      expect(from).toBeLessThan(NEWEST);
      const create = ["keys", "create", "--user", "ada@example.com", "--name", "first"];
      const key = (await runCommand(create, { root, env })).stdout.trim();
      const old = clientOf(previous.url, key);
      await old.send("POST", "/projects", { name: "Docs", slug: "docs" });
      await importFile(old, "before", 1);
      await untilFound(old, "before", 1);

      const current = await startServer({ env });
      await untilReady(current.url);
      expect(current.logs()).toContain(
        `migrating the database from schema ${from} to ${NEWEST}, after which earlier versions do not start`,
      );
      const fresh = clientOf(current.url, key);
      await untilFound(fresh, "before", 1);
      await Promise.all([worksOn(old, sql, "by-old", 2), worksOn(fresh, sql, "by-new", 4)]);
      // Each finds what the other has written, and accepts its keys.
      for (const client of [old, fresh]) {
        for (const [found, seed] of [
          ["by-old", 2],
          ["by-new", 4],
        ] as const) {
          await untilFound(client, found, seed);
          const { path } = await client.send("GET", `/projects/docs/files/put-${seed}.md`);
          expect(path).toBe(`put-${seed}.md`);
        }
      }
      // Commands and processes of the old version do not start any more, and say why.
      const late = await runCommand(["projects", "list"], { root, env });
      expect(late).toMatchObject({ status: 1, stderr: expect.stringContaining("a newer version") });
      expect((await runCommand(["migrate", "--check"], { env })).status).toBe(0);
      for (const server of [previous, current]) {
        server.kill("SIGTERM");
        expect(await server.exited).toBe(0);
      }
    },
    TIMEOUT_MS,
  );
});

/** Writes by import, by PUT and by a delivery, and lets a key that this process made be used on it. */
async function worksOn(client: Client, sql: Sql, name: string, seed: number): Promise<void> {
  await importFile(client, name, seed);
  await client.send("PUT", `/projects/docs/files/put-${seed}.md`, "# Written\n");
  const [project] = await sql<Project[]>`SELECT id, slug FROM projects`;
  const webhook = await addWebhook(sql, project as Project);
  const headers = { ...webhook.headers, ...keyed(name) };
  const delivered = await client.send("POST", webhook.path, JSON.stringify({ name }), headers);
  expect(delivered).toMatchObject({ status: "accepted", payload: { name } });
  const { key } = await client.send("POST", "/api-keys", { name });
  await clientOf(client.url, key).send("GET", "/projects/docs");
}
