import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { ApiKeyVerifier } from "../../../src/auth/api-keys.ts";
import { generateKey, hashKey, parseKey } from "../../../src/auth/key-format.ts";
import type { Sql } from "../../../src/db/client.ts";
import { createLog } from "../../../src/ops/observability/log.ts";

afterEach(() => void setSystemTime());

const key = generateKey();
const prefix = parseKey(key)?.keyPrefix as string;
const row = {
  id: randomUUID(),
  user_id: randomUUID(),
  project_id: null,
  key_hash: hashKey(key),
  scopes: [],
  expires_at: null as Date | null,
  revoked_at: null as Date | null,
};
type Row = typeof row;

/** A verifier whose reads of the key the test answers, in their order. */
async function openVerifier() {
  const reads: PromiseWithResolvers<Row[]>[] = [];
  const read = () => {
    const next = Promise.withResolvers<Row[]>();
    reads.push(next);
    return next.promise;
  };
  const verifier = new ApiKeyVerifier(read as unknown as Sql, createLog("silent"));
  // Recorded uses are of no interest here.
  await verifier.close();
  return { verifier, reads, verify: async () => await verifier.verify(key) };
}

describe("the cache of API keys", () => {
  test("a key that is revoked while it is read for the first time is read again", async () => {
    const { verifier, reads, verify } = await openVerifier();
    const first = verify();
    verifier.drop(prefix);
    reads[0]?.resolve([row]);
    expect((await first).keyId).toBe(row.id);
    const second = verify();
    expect(reads).toHaveLength(2);
    reads[1]?.resolve([{ ...row, revoked_at: new Date() }]);
    await expect(second).rejects.toThrow("not valid");
  });

  test("a key that is revoked after it was read is read again", async () => {
    const { verifier, reads, verify } = await openVerifier();
    const first = verify();
    reads[0]?.resolve([row]);
    await first;
    verifier.drop(prefix);
    const second = verify();
    expect(reads).toHaveLength(2);
    reads[1]?.resolve([]);
    await expect(second).rejects.toThrow("not valid");
  });

  test("a cached key is refused from its expiry on", async () => {
    const { reads, verify } = await openVerifier();
    const start = Date.parse("2026-01-05T09:00:00Z");
    setSystemTime(start);
    const first = verify();
    reads[0]?.resolve([{ ...row, expires_at: new Date(start + 60_000) }]);
    await first;
    setSystemTime(start + 59_999);
    await verify();
    setSystemTime(start + 60_000);
    await expect(verify()).rejects.toThrow("not valid");
    expect(reads).toHaveLength(1);
  });
});
