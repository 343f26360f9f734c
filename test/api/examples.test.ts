import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/observability/log.ts";
import { sharedBilling } from "../../support/api/billing.ts";
import { examplesOf, sendExample } from "../../support/api/examples.ts";
import { onCleanup } from "../../support/cleanup.ts";

const { api, payer } = await sharedBilling();
const folder = mkdtempSync(join(tmpdir(), "tessera-demo-"));
onCleanup(async () => rmSync(folder, { recursive: true }));
const demo = await createDemo(folder, api.sql, createLog("fatal"));
/** A key cannot have the permission to pay. */
const buyer = await payer();
const owner = { userId: "", headers: { "x-api-key": demo?.key ?? "" } };

test("every example in the document succeeds against the demo", async () => {
  const failed: string[] = [];
  for await (const example of examplesOf(api, owner)) {
    const as = example.template.startsWith("/account/") ? buyer : owner;
    const { status, text } = await sendExample(api, as, example);
    const name = `${example.method} ${example.template} ${example.headers["content-type"] ?? ""}`;
    if (status >= 300) failed.push(`${name}: ${status} ${text.slice(0, 300)}`);
  }
  expect(failed).toEqual([]);
});
