import { describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { createEmptyDatabase, createTestDatabase } from "../../../support/processes/postgres.ts";
import { startRedis } from "../../../support/processes/redis.ts";
import { lacks } from "../../../support/programs.ts";

describe("the servers that tests run against", () => {
  test("two test databases have the schema and separate contents", async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await first.sql`CREATE TABLE mark (n integer)`;
    const [migrations] = await second.sql`SELECT count(*)::int AS n FROM schema_migrations`;
    const [mark] = await second.sql`SELECT to_regclass('mark') AS name`;
    expect(migrations?.n).toBeGreaterThan(0);
    expect(mark?.name).toBeNull();
  });

  test("an empty database has no schema", async () => {
    const { sql } = await createEmptyDatabase();
    const [row] = await sql`SELECT to_regclass('schema_migrations') AS name`;
    expect(row?.name).toBeNull();
  });

  test.skipIf(lacks("redis-server"))(
    "a killed and restarted Redis is empty and has the same address",
    async () => {
      const server = await startRedis();
      const client = new Redis(server.url, { lazyConnect: true });
      client.on("error", () => {});
      await client.set("key", "value");
      await server.restart();
      expect(await client.get("key")).toBeNull();
      client.disconnect();
      await server.stop();
    },
  );
});
