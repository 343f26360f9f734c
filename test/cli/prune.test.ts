import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { jsonLines } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { contentsOf, dump, openCli, type TestCli } from "./support.ts";

const FILES = 10;
let cli: TestCli;
let folder: string;
beforeEach(async () => {
  cli = await openCli();
  folder = temporaryFolder("pruned");
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, `${i}.md`), `# ${i}`);
  await importFolder();
});

const args = (...options: string[]) => [
  "import",
  "--markdown",
  folder,
  "--project",
  "handbook",
  ...options,
];
const importFolder = (...options: string[]) => cli.run(args(...options));
const count = async () =>
  Object.keys(await contentsOf(cli.sql, "environment", "production")).length;
const remove = (files: number) => {
  for (let i = 0; i < files; i++) rmSync(join(folder, `${i}.md`));
};

/** Runs the import on a terminal where somebody types this line. */
const onTerminal = (answer: string, ...options: string[]) =>
  callCommand(args("--prune", ...options), {
    env: { DATABASE_URL: cli.database.url },
    stdin: `${answer}\n`,
    columns: 80,
  });

describe("import --prune", () => {
  test("removes nothing and imports nothing without --yes where nobody can be asked", async () => {
    remove(9);
    writeFileSync(join(folder, "new.md"), "# New");
    const before = await dump(cli.sql);
    const refused = await importFolder("--prune");
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("remove 9 of 10 files from production?");
    expect(refused.stderr).toContain("--yes");
    expect(refused.stderr).toContain("to be removed: 0.md\n");
    expect(refused.stderr).toContain("to be removed: 4 more\n");
    expect(await dump(cli.sql)).toEqual(before);
    expect((await importFolder("--prune", "--yes")).status).toBe(0);
    expect(await count()).toBe(2);
  });

  test("removes nothing below a folder that cannot be read, which is named with exit status 1, nor files that became symbolic links", async () => {
    const below = join(folder, "d\ufffd");
    mkdirSync(below);
    writeFileSync(join(below, "in.md"), "# In");
    await importFolder();
    expect(await count()).toBe(FILES + 1);
    rmSync(below, { recursive: true });
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/d`), Buffer.of(0xfe)]));
    remove(3);
    symlinkSync("/etc/hostname", join(folder, "2.md"));
    const { status, stderr } = await importFolder("--prune", "--yes");
    expect([status, stderr]).toEqual([1, expect.stringContaining("d\ufffd: has a name")]);
    expect(stderr).toContain("to be removed: 1.md");
    expect(await count()).toBe(FILES - 1);
    expect(await contentsOf(cli.sql, "environment", "production")).toHaveProperty([
      "d\ufffd/in.md",
    ]);
  });

  test("asks on a terminal, and needs no answer when nothing is to be removed", async () => {
    remove(2);
    const refused = await onTerminal("n");
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("remove 2 of 10 files from production? [y/N]");
    expect(await count()).toBe(FILES);
    const confirmed = await onTerminal("y");
    expect(confirmed.status, confirmed.stderr).toBe(0);
    expect(await count()).toBe(8);
    expect((await importFolder("--prune")).status).toBe(0);
  });

  test("removes up to --prune-max without a question, and more than it only with --yes", async () => {
    remove(2);
    expect((await importFolder("--prune", "--prune-max", "20%")).status).toBe(0);
    expect(await count()).toBe(8);
    rmSync(join(folder, "2.md"));
    rmSync(join(folder, "3.md"));
    const refused = await importFolder("--prune", "--prune-max", "20%");
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("2 of 8 files (25%) from production, more than 20%");
    expect(await count()).toBe(8);
    expect((await onTerminal("y", "--prune-max", "20%")).status).toBe(1);
    expect((await importFolder("--prune", "--prune-max", "20%", "--yes")).status).toBe(0);
    expect(await count()).toBe(6);
    for (const wrong of ["20", "101%", "-1%", "x%"]) {
      expect((await importFolder("--prune", "--prune-max", wrong)).status, wrong).toBe(2);
    }
    expect((await importFolder("--yes")).status).toBe(2);
  });

  test("is in the audit log with the number of files, as removing files by hand is", async () => {
    remove(3);
    await importFolder("--prune", "--yes");
    await cli.run(["files", "remove", "4.md", "--project", "handbook", "--yes"]);
    await cli.run(["files", "remove", "4.md", "--project", "handbook", "--purge", "--yes"]);
    const { stdout } = await cli.run(["audit", "--action", "files.removed", "--json"]);
    const entries = jsonLines(stdout);
    expect(entries).toMatchObject([
      {
        via: "command",
        project: "handbook",
        details: { environment: "production", files: 3, by: "prune" },
      },
      {
        via: "command",
        project: "handbook",
        details: { environment: "production", files: 1, paths: ["4.md"] },
      },
      { via: "command", project: "handbook", details: { purged: true, files: 1, paths: ["4.md"] } },
    ]);
  });
});

test("a question about a project names what is lost with it", async () => {
  const result = await cli.run(["projects", "delete", "handbook"]);
  expect(result.status).toBe(1);
  expect(result.stderr).toContain(
    "handbook with its 10 files, 0 releases, 1 environment, 1 member",
  );
});
