import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/process.ts";
import { contentsOf, openCli } from "./support.ts";

const PATIENCE_MS = 60_000;

test("import --watch follows new, changed and removed files until it is interrupted", async () => {
  const cli = await openCli();
  const folder = temporaryFolder("watched");
  writeFileSync(join(folder, "a.md"), "# A");
  const program = Bun.spawn(
    [
      ...[
        process.execPath,
        "src/cli/main.ts",
        "import",
        "--markdown",
        folder,
        "--prune",
        "--watch",
      ],
      ...["--project", "handbook"],
    ],
    {
      cwd: PROJECT_ROOT,
      env: { PATH: process.env["PATH"], DATABASE_URL: cli.database.url },
      ...{ stdout: "ignore", stderr: "ignore" },
    },
  );
  onCleanup(() => program.kill("SIGKILL"));
  let last: Record<string, string> = {};
  const until = async (wanted: (contents: Record<string, string>) => boolean) => {
    for (const end = Date.now() + PATIENCE_MS; ; await Bun.sleep(100)) {
      last = await contentsOf(cli.sql, "environment", "production");
      if (wanted(last)) return;
      expect(Date.now(), JSON.stringify(last)).toBeLessThan(end);
    }
  };
  await until((contents) => "a.md" in contents);
  const before = last["a.md"];
  mkdirSync(join(folder, "new"));
  writeFileSync(join(folder, "new", "b.md"), "# B");
  await until((contents) => "new/b.md" in contents);
  writeFileSync(join(folder, "a.md"), "# A, changed");
  await until((contents) => contents["a.md"] !== before);
  rmSync(join(folder, "new", "b.md"));
  await until((contents) => !("new/b.md" in contents));
  program.kill("SIGINT");
  expect(await program.exited).toBe(130);
});
