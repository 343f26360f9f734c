import { afterAll, afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { ApiKeyVerifier } from "../../../src/auth/api-keys.ts";
import { generateKey, hashKey, parseKey } from "../../../src/auth/key-format.ts";
import { KEY_LAST_USED_INTERVAL_MS } from "../../../src/domain/limits.ts";
import { createLog } from "../../../src/ops/observability/log.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();
const verifier = new ApiKeyVerifier(sql, createLog("silent"));
afterAll(() => verifier.close());
afterEach(() => void setSystemTime());

async function newKey(): Promise<{ id: string; key: string }> {
  const [id, userId, key] = [randomUUID(), randomUUID(), generateKey()];
  await sql`INSERT INTO users (id) VALUES (${userId})`;
  await sql`
    INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
    VALUES (${id}, ${userId}, 'key', ${parseKey(key)?.keyPrefix as string}, ${hashKey(key)})`;
  return { id, key };
}

async function lastUse(id: string): Promise<number | undefined> {
  const [row] = await sql<{ last_used_at: Date | null }[]>`
    SELECT last_used_at FROM api_keys WHERE id = ${id}`;
  return row?.last_used_at?.getTime();
}

describe("the last use of an API key", () => {
  test("the last use of a key is written in the background, at most once per interval", async () => {
    const { id, key } = await newKey();
    const start = Date.parse("2026-01-05T09:00:00Z");
    setSystemTime(start);
    await verifier.verify(key);
    await verifier.flush();
    expect(await lastUse(id)).toBe(start);
    setSystemTime(start + KEY_LAST_USED_INTERVAL_MS - 1);
    await verifier.verify(key);
    await verifier.flush();
    expect(await lastUse(id)).toBe(start);
    setSystemTime(start + KEY_LAST_USED_INTERVAL_MS);
    await verifier.verify(key);
    await verifier.flush();
    expect(await lastUse(id)).toBe(start + KEY_LAST_USED_INTERVAL_MS);
  });

  test("recording the last use never delays a caller, even while the key's row is locked", async () => {
    const { id, key } = await newKey();
    await verifier.verify(key);
    const flushed = await sql.begin(async (tx) => {
      await tx`SELECT 1 FROM api_keys WHERE id = ${id} FOR UPDATE`;
      const flushing = verifier.flush();
      const principal = await verifier.verify(key);
      expect(principal.keyId).toBe(id);
      expect(await lastUse(id)).toBeUndefined();
      return { flushing };
    });
    await flushed.flushing;
    expect(await lastUse(id)).toBeNumber();
  });

  test("a refused key is not recorded as used", async () => {
    const { id, key } = await newKey();
    await sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${id}`;
    await expect(Promise.resolve(verifier.verify(key))).rejects.toThrow("not valid");
    await verifier.flush();
    expect(await lastUse(id)).toBeUndefined();
  });
});
