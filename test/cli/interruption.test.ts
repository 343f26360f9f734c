import { expect, test } from "bun:test";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";
import { FRAME, ndjson, openCli } from "./support.ts";

test("an import that is interrupted says what it has kept and how to go on, and the same import completes it", async () => {
  const cli = await openCli();
  const release = { record: "release", project: "docs", name: "v1", environment: "production" };
  const begin = (...options: string[]) => {
    const program = Bun.spawn([process.execPath, "src/cli/main.ts", "import", "-", ...options], {
      ...{ cwd: PROJECT_ROOT, stdin: "pipe", stdout: "pipe", stderr: "pipe" },
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: cli.database.url,
        DATA_DIR: temporaryFolder("interrupted"),
      },
    });
    onCleanup(() => program.kill("SIGKILL"));
    // A release of a working set ends a batch, so these records are written while the input is open.
    program.stdin.write(ndjson([...FRAME, release]));
    program.stdin.flush();
    return program;
  };
  const first = begin();
  await until(
    "the first batch is stored",
    async () => (await cli.sql`SELECT FROM releases`).length > 0,
  );
  await cli.sql.begin(async (tx) => {
    await tx`INSERT INTO releases (id, project_id, name)
      SELECT gen_random_uuid(), project_id, 'v2' FROM releases`;
    first.stdin.write(ndjson([{ ...release, name: "v2" }]));
    first.stdin.flush();
    // A batch is counted before the next one is written.
    await until("the second batch waits for another transaction", async () => {
      const waiting = await tx`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'transactionid'`;
      return waiting.length > 0;
    });
    first.kill("SIGINT");
    expect(await first.exited).toBe(130);
    await tx`DELETE FROM releases WHERE name = 'v2'`;
  });
  expect(await first.stdout.text()).toBe("");
  expect(await first.stderr.text()).toBe(
    "tessera: interrupted: 4 records imported, which stay: run the same command again to go on, " +
      "it changes nothing that is imported already\n",
  );
  const again = begin();
  again.stdin.end();
  expect(await again.exited).toBe(0);
  expect(await again.stdout.text()).toContain("imported 4 records");

  const strict = begin("--strict");
  const isOpen = async () =>
    (
      await cli.sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'tessera-cli'`
    ).length > 0;
  await until("the command has connected", isOpen);
  strict.kill("SIGINT");
  expect(await strict.exited).toBe(130);
  expect(await strict.stderr.text()).toMatch(/^tessera: interrupted(: nothing was imported)?\n$/);
});
