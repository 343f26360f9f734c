import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../support/embedded.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { runCommand, startServer, type TestServer } from "../../support/process.ts";
import { untilReady } from "../support/index-world.ts";

/** Where the embedded PostgreSQL of a data folder is, as docs/operations.md explains. */
function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, "postgres-location");
  return existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : join(dataDir, "postgres");
}

function copy(from: string, to: string): void {
  const { success, stderr } = Bun.spawnSync(["cp", "-a", from, to]);
  expect(success, stderr.toString()).toBe(true);
}

async function stop(server: TestServer): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}

test("a restored copy of the database is what is searched, even under newer indexes", async () => {
  const env = { DATA_DIR: dataFolder() };
  const first = await startServer({ env });
  const imported = await runCommand(
    ["import", "--markdown", "fixtures/docs/concepts", "--project", "handbook"],
    { env },
  );
  const key = /shown only once: (\S+)/.exec(imported.stderr)?.[1] as string;
  const listed = async (server: TestServer): Promise<string[]> => {
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
  };
  const search = async (server: TestServer) => {
    const args = ["search", "a release is frozen", "--project", "handbook", "--key", key];
    const { stdout } = await runCommand([...args, "--url", server.url, "--json"], { env });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).chunk.id);
  };
  const paths = await listed(first);
  expect(paths).toContain("releases.md");
  const hits = await search(first);
  await stop(first);

  const backup = join(temporaryFolder("backup"), "postgres");
  copy(clusterOf(env.DATA_DIR), backup);

  const second = await startServer({ env });
  const later = { record: "file", project: "handbook", path: "later.md", content: "# Later" };
  const line = JSON.stringify({ ...later, environments: ["production"] });
  expect((await runCommand(["import", "-"], { env, stdin: line })).status).toBe(0);
  const removed = ["files", "remove", "releases.md", "--project", "handbook", "--yes"];
  expect((await runCommand(removed, { env })).status).toBe(0);
  await Bun.sleep(1_000);
  const changed = await listed(second);
  expect(changed).toContain("later.md");
  expect(changed).not.toContain("releases.md");
  await stop(second);

  Bun.spawnSync(["rm", "-rf", clusterOf(env.DATA_DIR)]);
  copy(backup, clusterOf(env.DATA_DIR));
  const restored = await startServer({ env });
  expect(await listed(restored)).toEqual(paths);
  expect(await search(restored)).toEqual(hits);
  await stop(restored);
});
