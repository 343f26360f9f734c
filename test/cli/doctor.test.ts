import { describe, expect, test } from "bun:test";
import { startApi } from "../../support/api/api.ts";
import { jsonLines } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { createEmptyDatabase, createTestDatabase } from "../../support/processes/postgres.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { lacks } from "../../support/programs.ts";

async function doctor(env: Record<string, string>) {
  const { status, stdout } = await callCommand(["doctor", "--json"], { env });
  const findings = jsonLines(stdout);
  return { status, of: (check: string) => findings.filter((finding) => finding.check === check) };
}

describe("doctor", () => {
  test.skipIf(lacks("redis-server"))(
    "finds nothing wrong with a running service, and prints a table",
    async () => {
      const api = await startApi();
      const user = await api.user();
      await api.project(user);
      const env = { DATABASE_URL: api.databaseUrl, REDIS_URL: (await startRedis()).url };
      const { status, of } = await doctor(env);
      expect(status).toBe(0);
      for (const check of [
        "version",
        "configuration",
        "search core",
        "database",
        "schema",
        "redis",
      ]) {
        expect(of(check), check).toMatchObject([{ state: "ok" }]);
      }
      const table = await callCommand(["doctor"], { env });
      expect(table.stdout).toMatch(/^check +state +found +remedy\n/);
    },
  );

  test("names every fault of the configuration", async () => {
    const { status, of } = await doctor({ PORT: "many", DATABASE_URL: "mysql://x" });
    expect(status).toBe(1);
    const found = of("configuration").map((finding) => finding.found);
    expect(found).toHaveLength(2);
    expect(found.join()).toContain("PORT must be a whole number");
    expect(found.join()).toContain("DATABASE_URL must be a URL");
  });

  test("says what to do about servers that do not answer", async () => {
    const { status, of } = await doctor({
      DATABASE_URL: "postgres://nobody@127.0.0.1:9/none",
      REDIS_URL: "redis://127.0.0.1:9",
    });
    expect(status).toBe(1);
    expect(of("database")[0]).toMatchObject({ state: "failed" });
    expect(of("database")[0].found).toContain("DATABASE_URL");
    expect(of("redis")[0].state).toBe("failed");
    expect(of("redis")[0].remedy).toContain("REDIS_URL");
  });

  test("reports a schema that is missing, old or newer than this version, and changes nothing", async () => {
    const empty = await createEmptyDatabase();
    expect((await doctor({ DATABASE_URL: empty.url })).of("schema")[0].remedy).toContain("migrate");
    const [row] = await empty.sql`SELECT to_regclass('users') AS users`;
    expect(row?.["users"]).toBeNull();
    const database = await createTestDatabase();
    await database.sql`UPDATE schema_migrations SET name = '0001_identity'`;
    const old = await doctor({ DATABASE_URL: database.url });
    expect(old.of("schema")).toMatchObject([
      { state: "failed", remedy: expect.stringContaining("export it") },
    ]);
    await database.sql`DELETE FROM schema_migrations`;
    await database.sql`INSERT INTO schema_migrations (version, name) VALUES (9999, 'future')`;
    const newer = await doctor({ DATABASE_URL: database.url });
    expect(newer.status).toBe(1);
    expect(newer.of("schema")[0].remedy).toContain("newer version");
  });
});
