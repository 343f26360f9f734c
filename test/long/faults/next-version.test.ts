import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { shippedMigrations } from "../../../src/db/migrate.ts";
import { base64Of } from "../../../src/domain/vector.ts";
import { addApiKey, addEnvironment, addProject, addUser } from "../../../support/accounts.ts";
import { randomVector } from "../../../support/api/versions.ts";
import { untilReady } from "../../../support/api/world.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { startServer } from "../../../support/processes/process.ts";
import { until } from "../../../support/until.ts";
import { cloneService } from "../native/clone-service.ts";

const NEWEST = shippedMigrations().at(-1)?.version as number;

test("a process of the previous version ends when the next one migrates its database, which takes over", async () => {
  const { sql, url } = await createTestDatabase();
  const user = await addUser(sql, "ada@example.com");
  const project = await addProject(sql, user, "kept");
  await addEnvironment(sql, project, "production");
  const { key } = await addApiKey(sql, user);
  const traffic = trafficOf(key);
  const previous = await startServer({ env: { DATABASE_URL: url } });
  await untilReady(previous.url);
  await traffic.write(previous.url, "before.md");

  const stopTraffic = await traffic.start(previous.url);
  const next = await startServer({ root: nextVersion(), env: { DATABASE_URL: url } });
  await untilReady(next.url);
  const [row] = await sql`SELECT max(version)::integer AS version FROM schema_migrations`;
  expect(row?.["version"]).toBe(NEWEST + 1);
  expect(await previous.exited).toBe(1);
  expect(previous.logs()).toContain(
    `tessera: the database has schema ${NEWEST + 1}, but this version supports only ${NEWEST}: run a newer version of Tessera`,
  );
  expect(await stopTraffic()).toEqual([]);
  await traffic.write(next.url, "by-next.md");
  await traffic.untilFound(next.url, ["before.md", "by-next.md"]);
  next.kill("SIGTERM");
  expect(await next.exited).toBe(0);
});

/** A clone with one migration more, which changes tables that are in use. */
function nextVersion(): string {
  const clone = cloneService();
  const tables = [
    "users",
    "api_keys",
    "projects",
    "environments",
    "files",
    "file_versions",
    "chunks",
  ];
  const file = `${String(NEWEST + 1).padStart(4, "0")}_next.sql`;
  writeFileSync(
    join(clone, "src", "db", "migrations", file),
    `CREATE TABLE next_things (id integer PRIMARY KEY);
    ${tables.map((table) => `ALTER TABLE ${table} ADD COLUMN next integer DEFAULT 1;`).join("\n")}
    ALTER TABLE change_log ADD COLUMN next integer NOT NULL DEFAULT 1;
    CREATE INDEX next_files ON files (next);`,
  );
  return clone;
}

/** Requests of a client with this key to the project `kept`. */
function trafficOf(key: string) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const post =
    (path: string, body: string, type = headers["content-type"]) =>
    (url: string) =>
      fetch(`${url}/projects/kept/${path}`, {
        method: "POST",
        body,
        headers: { ...headers, "content-type": type },
      });
  const vector = base64Of(randomVector(768, 1));
  const lookup = post("knowledge/lookup", JSON.stringify({ limit: 12 }));
  const search = post("environments/production/search", JSON.stringify({ vector, dimension: 768 }));
  const file = (path: string) => ({
    record: "file",
    path,
    environments: ["production"],
    content: path,
  });
  const write = (path: string) =>
    post("import", JSON.stringify(file(path)), "application/x-ndjson");
  const pathsOf = async (url: string): Promise<string[]> => {
    const { data } = (await (await lookup(url)).json()) as { data: { path: string }[] };
    return data.map(({ path }) => path);
  };
  return {
    async write(url: string, path: string) {
      expect((await write(path)(url)).status).toBe(200);
    },
    async untilFound(url: string, paths: readonly string[]) {
      await until(`a lookup finds ${paths.join(", ")}`, async () => {
        const found = await pathsOf(url);
        return paths.every((path) => found.includes(path));
      });
    },
    /**
     * Sends requests until the process refuses connections, or the returned function is called, which returns the
     * failures. Resolves when each kind of request was answered.
     */
    async start(url: string) {
      const chunks = () => fetch(`${url}/projects/kept/chunks`, { headers });
      const requests = [lookup, search, chunks, write("busy.md")];
      const failures: string[] = [];
      let [answers, running] = [0, true];
      const done = (async () => {
        for (; running; await Bun.sleep(10)) {
          for (const request of requests) {
            const response = await request(url).catch(() => undefined);
            if (response === undefined) return;
            if (!response.ok) failures.push(await response.text());
            answers++;
          }
        }
      })();
      await until("each kind of request is answered", async () => answers >= requests.length);
      return async () => {
        running = false;
        await done;
        return failures;
      };
    },
  };
}
