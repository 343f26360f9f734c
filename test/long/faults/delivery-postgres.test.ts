import { describe, expect, test } from "bun:test";
import { startApi, TestApi } from "../../../support/api/api.ts";
import { startOwnPostgres } from "../../../support/processes/own-postgres.ts";
import { addWebhook, orphanRows, storedRows } from "../../../support/webhooks.ts";
import { sendDeliveries } from "../../faults/deliveries.ts";

describe("a restart of PostgreSQL during deliveries", async () => {
  const postgres = await startOwnPostgres();
  const beside = new TestApi("", postgres.sql, postgres.url, async () => {});
  const own = await startApi({ beside });

  for (const fault of ["restart", "crash"] as const) {
    test(`no acknowledged delivery is lost or stored twice by a PostgreSQL ${fault}`, async () => {
      const webhook = await addWebhook(own.sql, await own.project(await own.user()));
      let faultInjected: Promise<void> | undefined;
      const tally = await sendDeliveries({
        ...{ urls: [own.url], path: webhook.path, headers: webhook.headers },
        ...{ deliveries: 300, repeatShare: 0.2, clients: 12 },
        onProgress(acknowledged) {
          if (acknowledged === 100) faultInjected = postgres[fault]();
        },
      });
      await faultInjected;
      expect(tally.contradictions).toBe(0);
      const { keys } = tally;
      expect(await storedRows(own.sql, webhook)).toEqual({
        ...{ events: keys, messages: keys, runs: keys, keys },
      });
      expect(await orphanRows(own.sql)).toBe(0);
    });
  }
});
