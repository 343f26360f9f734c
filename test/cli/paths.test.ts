import { expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { environment, PROJECT_ROOT } from "../../support/processes/process.ts";
import { contentsOf, FRAME, openCli } from "./support.ts";

/** A folder outside the repository, with notes and with settings of another program. */
function foreignFolder(): string {
  const folder = realpathSync(temporaryFolder("notes"));
  writeFileSync(join(folder, ".env"), "DATABASE_URL=postgres://nobody@127.0.0.1:9/none\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
  writeFileSync(join(folder, "frame.ndjson"), ndjson(FRAME));
  mkdirSync(join(folder, "notes"));
  writeFileSync(join(folder, "notes", "own.md"), "# My own note");
  return folder;
}

/** Runs a shell line in a folder, with the path of the repository in `$TESSERA`. */
async function shell(line: string, cwd: string, variables: Record<string, string | undefined>) {
  const env = { ...environment(variables), TESSERA: PROJECT_ROOT };
  const program = Bun.spawn(["sh", "-c", line], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [status, stdout, stderr] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  return { status, stdout, stderr };
}

test("paths of a command refer to the folder that it is called in, with ./tessera and with npm", async () => {
  const cli = await openCli();
  const folder = foreignFolder();
  const run = (line: string) => shell(line, folder, { DATABASE_URL: cli.database.url });
  const records = await run(
    '"$TESSERA/tessera" import frame.ndjson && mkdir sub && cd sub &&' +
      '"$TESSERA/tessera" import --markdown ../notes --project docs',
  );
  expect(records.status, records.stderr).toBe(0);
  expect(await contentsOf(cli.sql, "environment", "production")).toEqual({
    "own.md": expect.any(String),
  });
  const byNpm = await run(
    'npm --prefix "$TESSERA" run --silent tessera -- export --project docs --output out.ndjson && ' +
      'cd sub && "$TESSERA/tessera" import ../out.ndjson',
  );
  expect(byNpm.status, byNpm.stderr).toBe(0);
  expect(byNpm.stdout).toContain("nothing changed");
  const missing = await run('"$TESSERA/tessera" import nope.ndjson');
  expect(missing.stderr).toBe("tessera: nope.ndjson cannot be read: no such file\n");
});

test("DATA_DIR is the caller's, and without it the data is in Tessera's own folder", async () => {
  const folder = foreignFolder();
  // The folder's address of a database that does not exist is not for Tessera.
  const found = async (dataDir: string | undefined) => {
    const line = '"$TESSERA/tessera" doctor --json';
    const { stdout } = await shell(line, folder, {
      DATA_DIR: dataDir,
      DATABASE_URL: "postgres://x@127.0.0.1:9/x",
    });
    return stdout.split("\n").find((each) => each.includes('"disk"'));
  };
  expect(await found("data")).toContain(`GiB free in ${join(folder, "data")}"`);
  expect(await found(undefined)).toContain(`GiB free in ${join(PROJECT_ROOT, "data")}"`);
});
