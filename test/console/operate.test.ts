import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Project } from "../../support/accounts.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { api, owner, signedIn, visit } from "./world.ts";

setDefaultTimeout(60_000);

const watched = await signedIn("#/operate");
const { page, faults } = watched;

/** The latest value of a plot, by what its name says. */
const plot = (name: RegExp) => page.getByRole("img", { name });

describe("operating in the console", () => {
  test("plots show throughput, latency, lag, memory and refusals of the process as soon as there are two readings", async () => {
    await plot(/^Throughput: requests [\d.,]+\/s$/).waitFor();
    // Of a time without requests there is no latency.
    await until(async () => {
      await api.get("/projects", owner);
      return (await plot(/^Latency: p50 [\d.]+ m?s, p99 [\d.]+ m?s$/).count()) > 0;
    });
    await plot(/^Lag: changes \d+$/).waitFor();
    await plot(/^Memory: process [\d.,]+ [MG]iB, indexes [\d.,]+ \w+$/).waitFor();
    await plot(/^Refusals: refused [\d.,]+\/s$/).waitFor();
  });

  test("the chosen time is in the address, and a reload keeps it", async () => {
    await page.getByLabel("15 min").check();
    expect(new URL(page.url()).hash).toBe("#/operate?range=15");
    await page.reload();
    expect(await page.getByLabel("15 min").isChecked()).toBe(true);
  });

  test("the audit log of a project says who did what", async () => {
    await visit(watched, "#/operate/audit?project=shipyard");
    const log = page.getByRole("table", { name: "Audit log" });
    const row = log.getByRole("row").filter({ hasText: "release created" }).first();
    expect(await row.textContent()).toContain("ada@example.com");
  });

  test("a delivery opens with the payload that was sent", async () => {
    const [project] = await api.sql<
      Project[]
    >`SELECT id, slug FROM projects WHERE slug = 'shipyard'`;
    const webhook = await addWebhook(api.sql, project as Project, { id: "builds" });
    const headers = { ...webhook.headers, "idempotency-key": "build-7" };
    await api.send("POST", webhook.path, { json: { build: { number: 7 } }, headers });
    await visit(watched, "#/operate/deliveries?project=shipyard");
    const row = page.getByRole("row").filter({ hasText: "build-7" });
    await row.getByRole("button", { name: "Payload" }).click();
    const dialog = page.getByRole("dialog", { name: "Delivery to builds" });
    await dialog.getByText('"number": 7').waitFor();
  });

  test("a part that the service refuses says why, and offers to try again", async () => {
    const refuse = "**/projects/shipyard/audit*";
    await page.route(refuse, (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/problem+json",
        body: JSON.stringify({ detail: "The database does not answer." }),
      }),
    );
    await visit(watched, "#/operate/audit?project=shipyard");
    const alert = page.getByRole("alert").filter({ hasText: "The database does not answer." });
    await alert.waitFor();
    await page.unroute(refuse);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table", { name: "Audit log" }).waitFor();
    expect(faults).toEqual([]);
  });
});
