import { describe, expect, test } from "bun:test";
import type { Project } from "../../support/accounts.ts";
import { file, importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { api, owner, signedIn, stranger, visit } from "./world.ts";

needs("chromium");

const watched = await signedIn("#/operate");
const { page, faults } = watched;

/** The latest value of a plot, by what its name says. */
const plot = (name: RegExp) => page.getByRole("img", { name });

describe("operating in the console", () => {
  test("plots show what the process measured before the page was opened, and then what it measures", async () => {
    let before: Json;
    await until("the history has a latency", async () => {
      // Where there were no requests, there is no latency.
      await api.get("/projects", owner);
      before = await (await fetch(`${api.url}/metrics/history`)).json();
      return (before.series.p50_ms.at(-1) ?? null) !== null;
    });
    await visit(watched, "#/operate");
    await plot(/^Latency: p50 [\d.]+ m?s, p99 [\d.]+ m?s$/).waitFor();
    await plot(/^Throughput: searches [\d.,]+\/s, others [\d.,]+\/s$/).waitFor();
    await plot(/^Recall: recall (none|[\d.]+)$/).waitFor();
    await plot(/^Lag: oldest [\d.,]+ s$/).waitFor();
    await plot(/^Memory: process [\d.,]+ [MG]iB$/).waitFor();
    await plot(/^Refusals and failures: refused [\d.,]+\/s, failed [\d.,]+\/s$/).waitFor();
    const answered = page.waitForResponse("**/metrics/history?seconds=900");
    expect((await (await answered).json()).at.length).toBeGreaterThan(before.at.length);
  });

  test("few values are drawn as bars, which a line would connect", async () => {
    const now = Math.round(Date.now() / 1_000);
    const at = Array.from({ length: 20 }, (_, index) => now - 45 * (19 - index));
    const none = at.map(() => null);
    const zero = at.map(() => 0);
    const json = {
      ...{ interval_seconds: 5, at },
      requests_per_second: {
        ...{ lookup: zero, retrieve: zero, other: zero },
        search: at.map((_, index) => (index === 10 ? 4 : 0)),
      },
      series: Object.fromEntries(
        ["p50_ms", "p99_ms", "refusals_per_second", "errors_per_second", "rss_bytes"]
          .concat(["index_lag_seconds", "recall"])
          .map((name) => [name, none]),
      ),
    };
    await page.route("**/metrics/history?*", (route) => route.fulfill({ json }));
    await visit(watched, "#/operate");
    const drawn = plot(/^Throughput/).locator("canvas");
    await drawn.waitFor();
    // How many pixels of a column are not of the page or of the axes, at most.
    const tallest = () =>
      drawn.evaluate((element) => {
        // biome-ignore lint/suspicious/noExplicitAny: the test has no types of browsers
        const canvas = element as any;
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        const columns = Array.from({ length: width }, (_, x) =>
          Array.from({ length: height }, (_, y) => (y * width + x) * 4).filter(
            (i) => data[i + 3] > 200 && data[i + 2] - data[i] > 100,
          ),
        );
        return Math.max(...columns.map(({ length }) => length));
      });
    await until("a bar is drawn", async () => (await tallest()) > 80);
    await page.unroute("**/metrics/history?*");
  });

  test("the chosen time is asked for and in the address, and a reload keeps it", async () => {
    const asked = page.waitForRequest("**/metrics/history?seconds=21600");
    await page.getByLabel("6 hours").check();
    await asked;
    expect(new URL(page.url()).hash).toBe("#/operate?range=360");
    await page.reload();
    expect(await page.getByLabel("6 hours").isChecked()).toBe(true);
  });

  test("searches are listed with their plan and how long they took, those of foreign projects are not", async () => {
    // A project of its own, because only the slowest of a project are listed.
    const yard = await api.project(owner);
    const vector = Array.from({ length: 768 }, () => 1);
    const chunks = [{ content: "crane", embedding: vector }];
    await importsOf(api, owner).report(yard, [PRODUCTION, file("cranes.md", { chunks })]);
    const answers = await Promise.all([
      api.post(
        `/projects/${yard.slug}/environments/production/search`,
        { vector, dimension: 768 },
        owner,
      ),
      api.post("/projects/vault/retrieve", { query: "crane" }, stranger),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const plan = answers[0].headers.get("x-search-plan") as string;
    await visit(watched, `#/operate/slow?project=${yard.slug}`);
    const list = page.getByRole("table", { name: "Slow searches" });
    const row = list.getByRole("row").filter({ hasText: "vector search" }).first();
    const text = await row.textContent();
    expect(text).toMatch(/^[\d.]+ m?s/);
    expect(text).toContain(plan);
    expect(text).toContain("production");
    await api.post(`/projects/${yard.slug}/retrieve`, { query: "crane of gold" }, owner);
    await visit(watched, `#/operate/slow?project=${yard.slug}`);
    const retrieval = list.getByRole("row").filter({ hasText: "crane of gold" });
    await retrieval.getByText("retrieval by words").waitFor();
    await visit(watched, "#/operate/slow?project=vault");
    await page
      .getByRole("alert")
      .getByText(/vault|project/i)
      .first()
      .waitFor();
    expect(await list.count()).toBe(0);
  });

  test("what a project is asked is listed, and what had no hits leads to the search", async () => {
    const yard = await api.project(owner);
    await importsOf(api, owner).report(yard, [PRODUCTION]);
    await visit(watched, `#/operate/questions?project=${yard.slug}`);
    await page.getByText("Nobody has asked this project anything").waitFor();
    await api.post(`/projects/${yard.slug}/retrieve`, { query: "Crane of gold" }, owner);
    await visit(watched, `#/operate/questions?project=${yard.slug}`);
    const days = page.getByRole("table", { name: "By day" });
    expect(await days.getByRole("row").nth(1).textContent()).toMatch(/^[\d-]{10}11[\d.]+ ms/);
    await page.getByRole("table", { name: "Without hits" }).getByRole("link").click();
    await page.getByRole("searchbox", { name: "Query" }).waitFor();
    expect(new URL(page.url()).hash).toContain(`#/search?project=${yard.slug}&q=crane`);
    await visit(watched, "#/operate/questions?project=vault");
    await page.getByRole("alert").first().waitFor();
    expect(await days.count()).toBe(0);
  });

  test("the audit log of a project says who did what", async () => {
    await visit(watched, "#/operate/audit?project=shipyard");
    const log = page.getByRole("table", { name: "Audit log" });
    const row = log.getByRole("row").filter({ hasText: "release created" }).first();
    expect(await row.textContent()).toContain("ada@example.com");
    const guest = await api.user({ email: "grace.audit@example.com" });
    await api.join(guest, (await api.get("/projects/shipyard", owner)).body, "member");
    await api.send("PUT", `/projects/shipyard/members/${guest.userId}`, {
      ...{ as: owner, json: { role: "editor" } },
    });
    await visit(watched, "#/operate/audit?project=shipyard");
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
    await page.getByRole("link", { name: "Webhook deliveries" }).click();
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
