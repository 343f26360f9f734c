import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { contentsOf, openCli, spawnImport } from "./support.ts";

/** Starts `import --watch --prune` on a new folder with one file. */
async function startWatch(...options: string[]) {
  const cli = await openCli();
  const folder = temporaryFolder("watched");
  writeFileSync(join(folder, "a.md"), "# A");
  const args = [
    "--markdown",
    folder,
    "--prune",
    "--yes",
    "--watch",
    "--project",
    "handbook",
    ...options,
  ];
  const program = spawnImport({ DATABASE_URL: cli.database.url }, ...args);
  const untilStored = async (
    what: string,
    wanted: (contents: Record<string, string>) => boolean,
  ) => {
    let last: Record<string, string> = {};
    await until(what, async () => {
      last = await contentsOf(cli.sql, "environment", "production");
      return wanted(last);
    });
    return last;
  };
  /** Interrupts the command and returns what it has printed on standard error. */
  const interrupt = async () => {
    program.kill("SIGINT");
    expect(await program.exited).toBe(130);
    return await program.stderr.text();
  };
  return { folder, untilStored, interrupt };
}

test("import --watch follows new, changed and removed files until it is interrupted, and says so in a line per attempt when embedding has failed", async () => {
  const endpoint = startEmbeddingEndpoint();
  const embedder = ["--embed-url", endpoint.url, "--embed-model", "m"];
  const { folder, untilStored, interrupt } = await startWatch(...embedder);
  const isThere = (path: string) => (contents: Record<string, string>) => path in contents;
  const { "a.md": before } = await untilStored("the first file is there", isThere("a.md"));
  const refuse = () => new Response("no credit", { status: 402 });
  endpoint.next.push(refuse, refuse);
  mkdirSync(join(folder, "new"));
  writeFileSync(join(folder, "new", "b.md"), "# B");
  await untilStored("the new file is there", isThere("new/b.md"));
  writeFileSync(join(folder, "a.md"), "# A, changed");
  await untilStored("the file is changed", (contents) => contents["a.md"] !== before);
  rmSync(join(folder, "new", "b.md"));
  await untilStored("the file is removed", (contents) => !isThere("new/b.md")(contents));
  const lines = (await interrupt()).split("\n").filter((line) => line.includes("answered 402"));
  expect(lines.map((line) => line.replace(/\d+ s$/, "N s"))).toEqual(
    Array(2).fill("tessera: the embedding endpoint answered 402 (no credit); trying again in N s"),
  );
});
