import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startApi } from "../../support/api/api.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { NOBODY_PORT } from "../../support/processes/ports.ts";
import { createEmptyDatabase } from "../../support/processes/postgres.ts";

const IMPORT = ["import", "--markdown", "fixtures/docs/concepts", "--project", "own"];

describe("commands and the service of the same data directory", () => {
  test("find each other without an address, which --url overrides, and name the remedy when nobody answers there", async () => {
    const DATA_DIR = dataFolder();
    const api = await startApi({ env: { DATA_DIR } });
    const env = { DATABASE_URL: api.databaseUrl, DATA_DIR };
    const imported = await callCommand([...IMPORT, "--key"], { env });
    expect(imported.status, imported.stderr).toBe(0);
    expect(imported.stdout).toMatch(/\d rows changed in the database \S+\n/);
    const curl = /^ {2}(curl .*)$/m.exec(imported.stderr)?.[1] ?? "";
    expect(curl).toContain(`curl -s ${api.url}/projects/own/`);
    const answer = await Bun.spawn(["sh", "-c", curl], { stderr: "ignore" }).stdout.text();
    expect(JSON.parse(answer)).toHaveProperty("data");

    const lookup = ["lookup", "releases", "--project", "own"];
    const found = await callCommand(lookup, { env });
    expect(found.stdout).toContain("releases.md");
    const nowhere = `http://127.0.0.1:${NOBODY_PORT}`;
    const elsewhere = await callCommand([...lookup, "--url", nowhere], { env });
    expect(elsewhere).toMatchObject({ status: 1, stdout: "" });
    expect(elsewhere.stderr).toContain(`${nowhere} does not answer`);
    expect(elsewhere.stderr).toContain("start the service, or name its address with --url");

    await api.stop();
    expect(existsSync(join(DATA_DIR, "service.json"))).toBe(false);
  });

  test("do not use different databases without a word", async () => {
    const env = { DATA_DIR: dataFolder() };
    const server = await startApi({ env });
    const url = server.databaseUrl;
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
