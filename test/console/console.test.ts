import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { addApiKey, type Project } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { untilReady } from "../../support/api/index-world.ts";
import { openPage, startBrowser } from "../../support/processes/browser.ts";
import { addWebhook } from "../../support/webhooks.ts";

setDefaultTimeout(120_000);

const DESKTOP = { width: 1_200, height: 900 };
const PHONE = { width: 360, height: 740 };

const [api, browser] = await Promise.all([
  startApi({ env: { DEMO: "on", BASE_URL: undefined } }),
  startBrowser(),
]);
await untilReady(api.url);
const [user] = await api.sql<{ id: string }[]>`SELECT id FROM users LIMIT 1`;
const { key } = await addApiKey(api.sql, user!.id);
const { page, faults } = await openPage(browser, api.url, DESKTOP);

async function signIn(on: Page, credential: string): Promise<void> {
  await on.getByLabel("API key or JWT").fill(credential);
  await on.getByRole("button", { name: "Sign in" }).click();
}

async function view(on: Page, name: string): Promise<void> {
  await on.getByRole("link", { name, exact: true }).click();
  await on.getByRole("heading", { name, level: 2 }).waitFor();
}

const results = () => page.getByRole("listitem");

describe("the console in a browser", () => {
  test("a wrong key is refused with the detail of the problem, and not kept", async () => {
    await page.goto(`${api.url}/console`);
    await signIn(page, key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"));
    const alert = await page.getByRole("alert").textContent();
    const refused = await api.get("/projects", { userId: "", headers: { "x-api-key": "x" } });
    expect(alert).toBe(refused.body.detail);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("a key signs in, stays in the tab, and shows its projects with their scopes and indexes", async () => {
    await signIn(page, key);
    await page.getByRole("link", { name: "Open Demo" }).click();
    await page.reload();
    const environments = page.getByRole("region", { name: "Environments" });
    expect(await environments.textContent()).toContain("production");
    expect(await page.getByRole("region", { name: "Releases" }).textContent()).toContain("v1");
    expect(await page.evaluate("localStorage.length")).toBe(0);
    expect(await page.evaluate("document.cookie")).toBe("");
  });

  test("a project shows the deliveries to its webhooks", async () => {
    const [demo] = await api.sql<Project[]>`SELECT id, slug FROM projects WHERE slug = 'demo'`;
    const webhook = await addWebhook(api.sql, demo as Project, { id: "deploys" });
    const headers = { ...webhook.headers, "idempotency-key": "delivery-1" };
    const sent = await api.send("POST", webhook.path, { json: {}, headers });
    await page.reload();
    const events = await page.getByRole("region", { name: "Webhook events" }).textContent();
    for (const part of ["deploys", "accepted", "delivery-1", sent.body.conversation_id]) {
      expect(events).toContain(part);
    }
  });

  test("a question shows passages with the words that match marked, and no question the files", async () => {
    await view(page, "Search");
    await page.getByLabel("Query").fill("releases");
    await page.getByLabel("Query").press("Enter");
    await results().first().waitFor();
    expect((await page.locator("mark").first().textContent())?.toLowerCase()).toStartWith(
      "release",
    );
    expect(await page.getByRole("status").textContent()).toMatch(
      /^10 of at least \d+ matches, found by meaning and words/,
    );
    await page.getByRole("button", { name: "More" }).click();
    await results().nth(10).waitFor();
    await page.getByLabel("Query").fill("");
    await page.getByLabel("Query").press("Enter");
    await page.getByText(/^10 of \d+ matches, [\d.]+ ms/).waitFor();
  });

  test("the chunks most similar to a chunk are found, itself first, with score, plan and times", async () => {
    await page.getByLabel("Search by").selectOption("chunks");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const similar = page.getByRole("button", { name: /^Chunks similar to/ });
    await similar.first().waitFor();
    const text = await results().first().locator("pre").textContent();
    await similar.first().click();
    await page.getByText(/^Similar to/).waitFor();
    expect(await results().first().locator("pre").textContent()).toBe(text as string);
    expect(await results().first().textContent()).toContain("score 1.0000");
    const status = await page.getByRole("status").textContent();
    expect(status).toMatch(/plan (exact|scan|graph), parse [\d.]+ ms, search [\d.]+ ms, render/);
  });

  test("a pasted vector is searched, and one of another dimension is refused by name", async () => {
    const [chunk] = await api.sql<{ vector: string }[]>`
      SELECT encode(embedding, 'base64') AS vector FROM chunks WHERE embedding IS NOT NULL LIMIT 1`;
    await page.getByLabel("Search by").selectOption("vector");
    await page.getByRole("textbox", { name: "Vector" }).fill(chunk!.vector.replace(/\s/g, ""));
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByText(/^10 results/).waitFor();
    await page.getByRole("textbox", { name: "Vector" }).fill("[1, 2, 3]");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).toContain("dimension");
  });

  test("a created key is shown once and works, and a revoked one is gone and refused", async () => {
    await view(page, "API keys");
    await page.getByLabel("Name").fill("<b>from the console</b>");
    await page.getByRole("button", { name: "Create key" }).click();
    const created = (await page.locator("#new-key").textContent()) as string;
    const statusOf = async () =>
      (await api.get("/projects", { userId: "", headers: { "x-api-key": created } })).status;
    expect(await statusOf()).toBe(200);
    const revoke = page.getByRole("button", { name: "Revoke <b>from the console</b>" });
    await revoke.click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await revoke.waitFor({ state: "detached" });
    expect(await statusOf()).toBe(401);
  });

  test("live plots show the process's throughput and latency", async () => {
    await view(page, "Live");
    await page.getByRole("img", { name: /^Throughput: requests per second [\d.,]+/ }).waitFor();
    await page.getByRole("img", { name: /^Vectors: in memory [1-9]/ }).waitFor();
  });

  test("nothing was blocked by the policy, failed, or came from another host", () => {
    expect(faults).toEqual([]);
  });

  test("on a phone, in dark mode, no view scrolls sideways and every control has a name", async () => {
    const phone = await openPage(browser, api.url, { ...PHONE, colorScheme: "dark" });
    await phone.page.goto(`${api.url}/console`);
    await signIn(phone.page, key);
    await phone.page.getByRole("link", { name: "Open Demo" }).waitFor();
    const background = await phone.page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(background).toBe("rgb(18, 22, 28)");
    for (const hash of ["projects", "project/demo", "search/demo", "live", "keys"]) {
      await phone.page.goto(`${api.url}/console#/${hash}`);
      await phone.page.locator(".card").first().waitFor();
      const width = await phone.page.evaluate("document.documentElement.scrollWidth");
      expect(width, hash).toBeLessThanOrEqual(PHONE.width);
      const unnamed =
        await phone.page.evaluate(`[...document.querySelectorAll("button, input, select, textarea")]
        .filter((node) => !(node.labels?.length || node.textContent || node.ariaLabel)).length`);
      expect(unnamed, hash).toBe(0);
    }
    expect(phone.faults).toEqual([]);
  });

  test("signing out forgets the credential", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key or JWT").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
