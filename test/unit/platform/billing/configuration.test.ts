import { expect, test } from "bun:test";
import { createBilling } from "../../../../src/api/billing.ts";
import type { Sql } from "../../../../src/db/client.ts";
import type { Log } from "../../../../src/ops/observability/log.ts";

test("the log says once which variable is missing for an upgrade, and so does every answer", async () => {
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text) } as unknown as Log;
  const sql = undefined as unknown as Sql;
  const config = { secretKey: undefined, apiBase: undefined, prices: {}, origins: [] };
  const upgrade = { type: "pro", cycle: "monthly" } as const;
  const bare = createBilling(config, sql, log);
  for (let i = 0; i < 2; i++) {
    await expect(bare.upgrade("account", upgrade)).rejects.toThrow("STRIPE_SECRET_KEY is not set");
  }
  expect(warnings).toEqual([expect.stringContaining("STRIPE_SECRET_KEY is not set")]);

  const unpriced = createBilling({ ...config, secretKey: "sk_test_1" }, sql, log);
  for (let i = 0; i < 2; i++) {
    await expect(unpriced.upgrade("account", upgrade)).rejects.toThrow("STRIPE_PRICES");
  }
  expect(warnings).toHaveLength(2);
  expect(warnings[1]).toContain("STRIPE_PRICES does not name it");
});
