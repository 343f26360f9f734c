import { expect, test } from "bun:test";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";
import { FRAME, openCli, spawnImport } from "./support.ts";

test("an interrupted import names the part that it has kept and how to go on, and the same import completes it", async () => {
  const cli = await openCli();
  const release = { record: "release", project: "docs", name: "v1", environment: "production" };
  const begin = (...options: string[]) => {
    const program = Bun.spawn([process.execPath, "src/cli/main.ts", "import", "-", ...options], {
      cwd: PROJECT_ROOT,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
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

test("an import that waits for the index says what it waits for, and when it is interrupted that everything is stored", async () => {
  const cli = await openCli();
  // A server that never indexes anything.
  await cli.sql`INSERT INTO index_nodes (id, seq, updated_at)
    VALUES (gen_random_uuid(), 0, now() + interval '1 hour')`;
  const file = {
    record: "file",
    project: "docs",
    path: "a.md",
    content: "text",
    environments: ["production"],
  };
  const program = spawnImport({ DATABASE_URL: cli.database.url }, cli.file([...FRAME, file]));
  const read: string[] = [];
  for await (const piece of program.stderr.pipeThrough(new TextDecoderStream())) {
    if (read.length === 0) program.kill("SIGINT");
    read.push(piece);
  }
  expect(await program.exited).toBe(130);
  const [waiting, ...rest] = read.join("").trim().split("\n");
  expect(waiting).toStartWith("tessera: waiting until searches see the change | ");
  expect(rest.at(-1)).toBe(
    "tessera: interrupted: everything is stored, and searches see it once the service has indexed it: " +
      "./tessera index status shows how far it is",
  );
  expect(await cli.sql`SELECT FROM environment_files`).toHaveLength(1);
});
