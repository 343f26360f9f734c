import { describe, expect, test } from "bun:test";
import type { Project } from "../../support/accounts.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { drawn } from "./drawn.ts";
import { api, owner, signedIn, visit } from "./world.ts";

needs("chromium");

const watched = await signedIn("#/operate");
const { page, faults } = watched;

/** The latest value of a plot, by what its name says. */
const plot = (name: RegExp) => page.getByRole("img", { name });

describe("operating in the console", () => {
  test("plots show the state of the process at once, and rates and latencies from the second poll on", async () => {
    await visit(watched, "#/operate");
    await plot(/^Memory: process [\d.,]+ [MG]iB$/).waitFor();
    await plot(/^Recall: recall (none|[\d.]+)$/).waitFor();
    await plot(/^Lag: changes [\d.,]+$/).waitFor();
    await plot(/^Throughput: searches [\d.,]+\/s, others [\d.,]+\/s$/).waitFor();
    await plot(/^Refusals and failures: refused [\d.,]+\/s, failed [\d.,]+\/s$/).waitFor();
    await until("a latency is plotted", async () => {
      // Where there were no requests, there is no latency.
      await api.get("/projects", owner);
      return (await plot(/^Latency: p50 [\d.]+ m?s, p99 [\d.]+ m?s$/).count()) > 0;
    });
  });

  test("a value is drawn as a step of its own time, because a line would suggest values in between", async () => {
    let polls = 0;
    await page.route("**/metrics", async (route) => {
      const count = ++polls > 10 ? 180 : 0;
      const name = "tessera_http_request_duration_seconds_count";
      const body = `${name}{operation="retrieve",status="200"} ${count}\n`;
      await route.fulfill({ body, contentType: "text/plain" });
    });
    await page.clock.install();
    // A new document has polled nothing.
    await page.reload();
    for (let poll = 1; poll < 20; poll++) {
      await drawn(page);
      await page.clock.fastForward(45_000);
      await until("the metrics are polled", () => polls > poll);
    }
    await drawn(page);
    const line = await plot(/^Throughput/)
      .locator("path")
      .first()
      .getAttribute("d");
    const steps = [...(line ?? "").matchAll(/([ML])([\d.-]+) ([\d.]+)H([\d.-]+)/g)];
    expect(steps.map(([step]) => step).join("")).toBe(line as string);
    const raised = steps.filter(([, , , y]) => Number(y) < Number(steps[0]?.[3]));
    expect(raised).toHaveLength(1);
    for (const [index, [, move, from]] of steps.entries()) {
      if (move === "L") expect(from).toBe(steps[index - 1]?.[4]);
    }
    await page.unroute("**/metrics");
  });

  test("what a project is asked is listed, and what had no hits leads to the search", async () => {
    const yard = await api.project(owner);
    await importsOf(api, owner).report(yard, [PRODUCTION]);
    await visit(watched, `#/projects/${yard.slug}/questions`);
    await page.getByText("Nobody has asked this project anything").waitFor();
    await api.post(`/projects/${yard.slug}/retrieve`, { query: "Crane of gold" }, owner);
    await visit(watched, `#/projects/${yard.slug}/questions`);
    const days = page.getByRole("table", { name: "By day" });
    expect(await days.getByRole("row").nth(2).textContent()).toMatch(
      /^[\d-]{10}11 \(100 %\)[\d.]+ ms/,
    );
    await page.getByRole("table", { name: "Without hits" }).getByRole("link").click();
    await page.getByRole("searchbox", { name: "Query" }).waitFor();
    expect(new URL(page.url()).hash).toContain(`#/search?project=${yard.slug}&q=crane`);
    await visit(watched, "#/projects/vault/questions");
    await page.getByRole("alert").first().waitFor();
    expect(await days.count()).toBe(0);
  });

  test("the audit log of a project says who did what", async () => {
    await visit(watched, "#/projects/shipyard/audit");
    const log = page.getByRole("table", { name: "Audit log" });
    const row = log.getByRole("row").filter({ hasText: "release created" }).first();
    expect(await row.textContent()).toContain("ada@example.com");
    const guest = await api.user({ email: "grace.audit@example.com" });
    await api.join(guest, (await api.get("/projects/shipyard", owner)).body, "member");
    await api.send("PUT", `/projects/shipyard/members/${guest.userId}`, {
      as: owner,
      json: { role: "editor" },
    });
    await visit(watched, "#/projects/shipyard/audit");
    const changed = log.getByRole("row").filter({ hasText: "member changed" }).first();
    await changed.getByText("grace.audit@example.com").waitFor();
    expect(await changed.textContent()).not.toContain(guest.userId);
  });

  test("a project leads to its deliveries, and each opens with the payload that was sent", async () => {
    const [project] = await api.sql<
      Project[]
    >`SELECT id, slug FROM projects WHERE slug = 'shipyard'`;
    const webhook = await addWebhook(api.sql, project as Project, { id: "builds" });
    const headers = { ...webhook.headers, "idempotency-key": "build-7" };
    await api.send("POST", webhook.path, { json: { build: { number: 7 } }, headers });
    await visit(watched, "#/projects/shipyard");
    await page.getByRole("link", { name: "Deliveries" }).click();
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
        body: JSON.stringify({
          title: "Dependency unavailable",
          detail: "The database does not answer.",
        }),
      }),
    );
    await visit(watched, "#/projects/shipyard/audit");
    const alert = page.getByRole("alert").filter({ hasText: "The database does not answer." });
    await alert.waitFor();
    await page.unroute(refuse);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table", { name: "Audit log" }).waitFor();
    expect(faults).toEqual([]);
  });
});
