import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { NOBODY_PORT } from "../../support/processes/ports.ts";
import { createEmptyDatabase, createTestDatabase } from "../../support/processes/postgres.ts";
import { startServer } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const IMPORT = ["import", "--markdown", "fixtures/docs/concepts", "--project", "own"];

/** Repeats a command until it finds something or fails. */
async function untilFound(run: () => ReturnType<typeof callCommand>) {
  let result = await run();
  await until("the command finds something", async () => {
    if (result.stdout !== "" || result.status !== 0) return true;
    result = await run();
    return false;
  });
  return result;
}

describe("commands and the service of the same data directory", () => {
  test("find each other without an address, which --url and TESSERA_URL override", async () => {
    const env = { DATA_DIR: await folderWithCluster() };
    const server = await startServer({ env });
    expect(server.logs()).toContain(`console: ${server.url}/console\n`);
    const imported = await callCommand(IMPORT, { env });
    expect(imported.status, imported.stderr).toBe(0);
    expect(imported.stdout).toMatch(/\d rows changed in the database in \S+\n/);
    const curl = /^ {2}(curl .*)$/m.exec(imported.stderr)?.[1] ?? "";
    expect(curl).toContain(`curl -s ${server.url}/projects/own/`);
    const answer = await Bun.spawn(["sh", "-c", curl], { stderr: "ignore" }).stdout.text();
    expect(JSON.parse(answer)).toHaveProperty("data");

    const lookup = ["lookup", "releases", "--project", "own"];
    const found = await untilFound(() => callCommand(lookup, { env }));
    expect(found.stdout).toContain("releases.md");
    const nowhere = `http://127.0.0.1:${NOBODY_PORT}`;
    const byVariable = await callCommand(lookup, { env: { ...env, TESSERA_URL: nowhere } });
    expect(byVariable).toMatchObject({ status: 1, stdout: "" });
    expect(byVariable.stderr).toContain(`${nowhere} does not answer`);
    const byOption = await callCommand([...lookup, "--url", server.url], {
      env: { ...env, TESSERA_URL: nowhere },
    });
    expect(byOption.status, byOption.stderr).toBe(0);

    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(existsSync(join(server.dataDir, "service.json"))).toBe(false);
  });

  test("are not separated by an address that a killed service has left", async () => {
    const env = { DATA_DIR: await folderWithCluster() };
    const first = await startServer({ env });
    first.kill("SIGKILL");
    await first.exited;
    const left = await callCommand(["doctor", "--json"], { env });
    expect(left.stdout).toContain(`${first.url} does not answer`);
    const again = await startServer({ env });
    const { stdout } = await callCommand(["doctor", "--json"], { env });
    expect(stdout).toContain(`answers at ${again.url}`);
    expect(stdout).toContain("there are no projects");
    expect(stdout).not.toContain("warning");
  });

  test("do not use different databases without a word", async () => {
    const { url } = await createTestDatabase();
    const server = await startServer({ env: { DATABASE_URL: url } });
    const env = { DATA_DIR: server.dataDir };
    const forced = await callCommand(["migrate", "--create"], { env });
    expect(forced).toMatchObject({ status: 1, stdout: "" });
    expect(forced.stderr).toContain(`the service at ${server.url} uses the database 127.0.0.1:`);
    expect(forced.stderr).toContain("give this command the same DATABASE_URL");
    expect(forced.stderr).not.toContain(new URL(url).password);
    const refused = await callCommand(IMPORT, { env });
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    const other = await createEmptyDatabase();
    const told = await callCommand(IMPORT, { env: { ...env, DATABASE_URL: other.url } });
    expect(told.status, told.stderr).toBe(0);
    expect(told.stderr).toContain(`the service at ${server.url} uses the database`);
    const same = await callCommand(IMPORT, { env: { ...env, DATABASE_URL: url } });
    expect(same.status, same.stderr).toBe(0);
    expect(same.stderr).not.toContain("the service at");
  });
});

describe("commands without a service", () => {
  test("create no database, and nothing else, unless they are told to", async () => {
    const DATA_DIR = join(dataFolder(), "typo");
    for (const args of [
      IMPORT,
      ["migrate"],
      ["projects", "list"],
      ["keys", "create", "--user", "a@example.com", "--name", "x"],
      ["lookup", "x", "--project", "own"],
    ]) {
      const result = await callCommand(args, { env: { DATA_DIR } });
      expect(result, args.join(" ")).toMatchObject({ status: 1, stdout: "" });
      expect(result.stderr).toContain(`there is no database in ${DATA_DIR}: start the service`);
      expect(result.stderr).toContain("--create");
    }
    const doctor = await callCommand(["doctor"], { env: { DATA_DIR } });
    expect(doctor).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(DATA_DIR)).toBe(false);
    const created = await callCommand([...IMPORT, "--create"], { env: { DATA_DIR } });
    expect(created.status, created.stderr).toBe(0);
    expect(created.stdout).toContain(`changed in the database in ${DATA_DIR}\n`);
    const listed = await callCommand(["projects", "list"], { env: { DATA_DIR } });
    expect(listed.stdout).toContain("own");
  });
});
