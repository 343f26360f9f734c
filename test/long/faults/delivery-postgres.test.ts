import { describe, test } from "bun:test";
import { startApi, TestApi } from "../../../support/api/api.ts";
import { startOwnPostgres } from "../../../support/processes/own-postgres.ts";
import { addWebhook } from "../../../support/webhooks.ts";
import { expectStoredOnce, sendDeliveries } from "../../faults/deliveries.ts";

describe("a restart of PostgreSQL during deliveries", async () => {
  const postgres = await startOwnPostgres();
  const beside = new TestApi("", postgres.sql, postgres.url, async () => {});
  const own = await startApi({ beside });

  for (const fault of ["restart", "crash"] as const) {
    test(`no acknowledged delivery is lost or stored twice by a PostgreSQL ${fault}`, async () => {
      const webhook = await addWebhook(own.sql, await own.project(await own.user()));
      let faultInjected: Promise<void> | undefined;
      const tally = await sendDeliveries({
        urls: [own.url],
        path: webhook.path,
        headers: webhook.headers,
        deliveries: 300,
        repeatShare: 0.2,
        clients: 12,
        onProgress(acknowledged) {
          if (acknowledged === 100) faultInjected = postgres[fault]();
        },
      });
      await faultInjected;
      await expectStoredOnce(own.sql, webhook, tally);
    });
  }
});
