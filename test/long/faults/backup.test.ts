import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "../../../support/api/world.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { jsonLines } from "../../../support/ndjson.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { folderWithCluster } from "../../../support/processes/own-postgres.ts";
import { PROJECT_ROOT, startServer, type TestServer } from "../../../support/processes/process.ts";
import { lacks } from "../../../support/programs.ts";
import { untilPasses } from "../../../support/until.ts";
import { startSystemPostgres } from "./system-postgres.ts";

function copy(from: string, to: string): void {
  const { success, stderr } = Bun.spawnSync(["cp", "-a", from, to]);
  expect(success, stderr.toString()).toBe(true);
}

async function stop(server: TestServer): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}

type Environment = Readonly<Record<string, string>>;

/** Imports a folder of the handbook and returns a key for its project. */
async function importHandbook(env: Environment): Promise<string> {
  const folder = ["--markdown", "fixtures/docs/concepts", "--project", "handbook", "--key"];
  const { stderr } = await callCommand(["import", ...folder], { env });
  return /shown only once: (\S+)/.exec(stderr)?.[1] as string;
}

/** The paths of all files of the handbook, as a lookup lists them once the service is ready. */
async function listed(server: TestServer, key: string): Promise<string[]> {
  await untilReady(server.url);
  const paths: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const response = await fetch(`${server.url}/projects/handbook/knowledge/lookup`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(cursor === undefined ? {} : { cursor }),
    });
    expect(response.status).toBe(200);
    const { data, page_info } = (await response.json()) as {
      data: { path: string }[];
      page_info: { next: string | null };
    };
    paths.push(...data.map(({ path }) => path));
    cursor = page_info.next;
  }
  return paths;
}

/** The ids of the best chunks for a question. */
async function search(server: TestServer, key: string, env: Environment): Promise<string[]> {
  const args = ["search", "a release is frozen", "--project", "handbook", "--key", key];
  const { stdout } = await callCommand([...args, "--url", server.url, "--json"], { env });
  return jsonLines(stdout).map(({ chunk }) => chunk.id);
}

/** Adds a file and removes another one, and waits until the service has indexed both. */
async function changeHandbook(server: TestServer, key: string, env: Environment): Promise<void> {
  const later = { record: "file", project: "handbook", path: "later.md", content: "# Later" };
  const line = JSON.stringify({ ...later, environments: ["production"] });
  expect((await callCommand(["import", "-"], { env, stdin: line })).status).toBe(0);
  const removed = ["files", "remove", "releases.md", "--project", "handbook", "--yes"];
  expect((await callCommand(removed, { env })).status).toBe(0);
  await untilPasses("both changes are looked up", async () => {
    const paths = await listed(server, key);
    expect(paths).toContain("later.md");
    expect(paths).not.toContain("releases.md");
  });
}

/** The paths of all files, once what was imported can be looked up. */
async function imported(server: TestServer, key: string): Promise<string[]> {
  let paths: string[] = [];
  await untilPasses("the imported files are looked up", async () => {
    paths = await listed(server, key);
    expect(paths).toContain("releases.md");
  });
  return paths;
}

test("searches see a restored copy of the database, even under newer indexes", async () => {
  const env = { DATA_DIR: await folderWithCluster() };
  const first = await startServer({ env });
  const key = await importHandbook(env);
  const paths = await imported(first, key);
  const hits = await search(first, key, env);
  await stop(first);

  const backup = join(temporaryFolder("backup"), "postgres");
  copy(join(env.DATA_DIR, "postgres"), backup);

  const second = await startServer({ env });
  await changeHandbook(second, key, env);
  await stop(second);

  Bun.spawnSync(["rm", "-rf", join(env.DATA_DIR, "postgres")]);
  copy(backup, join(env.DATA_DIR, "postgres"));
  const restored = await startServer({ env });
  expect(await listed(restored, key)).toEqual(paths);
  expect(await search(restored, key, env)).toEqual(hits);
  await stop(restored);
});

/** The commands of docs/operations.md that back up and restore an external database. */
function documentedCommands(): [dump: string, restore: string] {
  const text = readFileSync(join(PROJECT_ROOT, "docs", "operations.md"), "utf8");
  const lines = /^pg_dump .*$\n^pg_restore .*$/m.exec(text)?.[0].split("\n") ?? [];
  return [lines[0] as string, lines[1] as string];
}

test.skipIf(lacks("pg_dump"))(
  "the documented dump brings back the database and its indexes, in place and on a new machine",
  async () => {
    const postgres = await startSystemPostgres();
    const folder = temporaryFolder("dump");
    const sh = async (command: string, url: string) => {
      const env = { PATH: `${postgres.bin}:/usr/bin:/bin`, DATABASE_URL: url };
      const shell = Bun.spawn(["sh", "-ec", command], { cwd: folder, env, stderr: "pipe" });
      expect(await shell.exited, await shell.stderr.text()).toBe(0);
    };
    const [dump, restore] = documentedCommands();
    const env = { DATABASE_URL: await postgres.createDatabase("first"), DATA_DIR: dataFolder() };
    const first = await startServer({ env });
    const key = await importHandbook(env);
    const paths = await imported(first, key);
    const hits = await search(first, key, env);
    // A dump needs no stop.
    await sh(dump, env.DATABASE_URL);
    await changeHandbook(first, key, env);
    await stop(first);

    await sh(restore, env.DATABASE_URL);
    const elsewhere = {
      DATABASE_URL: await postgres.createDatabase("other"),
      DATA_DIR: dataFolder(),
    };
    await sh(restore, elsewhere.DATABASE_URL);
    for (const place of [env, elsewhere]) {
      const restored = await startServer({ env: place });
      expect(await listed(restored, key)).toEqual(paths);
      expect(await search(restored, key, place)).toEqual(hits);
      await changeHandbook(restored, key, place);
      await stop(restored);
    }
  },
);
