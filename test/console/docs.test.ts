import { expect, test } from "bun:test";
import { VERSION } from "../../src/domain/version.ts";
import { guidePages } from "../../src/http/static/guides.ts";
import { openPage } from "../../support/processes/browser.ts";
import { needs } from "../../support/programs.ts";
import { accessFaults } from "./access.ts";
import { api, browser, DESKTOP, key, PHONE } from "./world.ts";

needs("chromium");

const { page, faults } = await openPage(browser, api.url, DESKTOP);
// The console has signed in with the key in this tab.
await page.addInitScript(`if (location.origin === ${JSON.stringify(api.url)})
  sessionStorage.setItem("tessera.credential", ${JSON.stringify(key)})`);
await page.goto(`${api.url}/docs`);
await page
  .getByRole("button", { name: / Group - / })
  .first()
  .waitFor();

/** Red, green and blue of a colour of the page. */
async function colour(property: "backgroundColor" | "color"): Promise<number[]> {
  const value = await page.evaluate(`getComputedStyle(document.body).${property}`);
  return (String(value).match(/\d+/g) ?? []).slice(0, 3).map(Number);
}

test("the reference has the colours of the reader's scheme, also when that changes", async () => {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`body.${colorScheme}-mode`).waitFor();
    const isDark = colorScheme === "dark";
    const [below, above] = isDark ? ["backgroundColor", "color"] : ["color", "backgroundColor"];
    expect(Math.max(...(await colour(below as "color")))).toBeLessThan(64);
    expect(Math.min(...(await colour(above as "color")))).toBeGreaterThan(192);
    expect(await accessFaults(page, ["color-contrast"]), colorScheme).toEqual([]);
  }
});

test("the reference asks for the document once, while its script is read", async () => {
  const initiators = `performance.getEntriesByType("resource")
    .filter(({ name }) => name.endsWith("/docs/json")).map(({ initiatorType }) => initiatorType)`;
  expect(await page.evaluate(initiators)).toEqual(["link"]);
});

test("the reference lists the operations before its script has run", async () => {
  const early = await openPage(browser, api.url, DESKTOP);
  await early.page.route("**/docs/reference.js", (route) => route.abort());
  await early.page.goto(`${api.url}/docs`);
  const first = await early.page.getByRole("listitem").first().textContent();
  expect(first).toStartWith("Find the best chunks");
  expect(first).toEndWith("POST /projects/{project_reference}/retrieve");
  const { paths } = (await api.contract()).document;
  const operations = Object.values<object>(paths).flatMap((methods) => Object.keys(methods));
  expect(await early.page.getByRole("listitem").count()).toBe(operations.length);
  await early.page.close();
});

test("the reference begins with retrieval and search, and names one version, that of the product", async () => {
  const groups = await page.getByRole("button", { name: / Group - / }).allTextContents();
  expect(groups.slice(0, 2)).toEqual(["Close Group - Search", "Open Group - Knowledge"]);
  const first = page.locator('a[href^="#tag/search/"]').first();
  expect(await first.textContent()).toStartWith("Find the best chunks");
  expect(await page.locator("#docs").textContent()).toContain(`v${VERSION}`);
});

test("the reference leads back to the console, and to the guides", async () => {
  const back = page.getByRole("link", { name: "Back to the console" });
  expect(await back.getAttribute("href")).toBe("/console");
  const guides = page.getByRole("link", { name: "Guides", exact: true });
  expect(await guides.getAttribute("href")).toBe("/docs/guides");
});

test("the reference lists fields in the order of the document, in which people read them", async () => {
  const shown = await page.locator(".property-name").allTextContents();
  const first = shown.slice(shown.indexOf("query"));
  const { properties } = (await api.contract()).document.components.schemas.RetrieveRequest;
  const names = Object.keys(properties);
  expect(first.filter((name) => names.includes(name)).slice(0, 4)).toEqual(names.slice(0, 4));
});

test("an operation that is tried in the reference is sent with the key of the console", async () => {
  await page.setViewportSize(DESKTOP);
  await page.getByRole("button", { name: "Open Group - Projects" }).click();
  await page.getByRole("link", { name: "List projects" }).click();
  await page.getByRole("button", { name: "Test Request (get /projects)" }).click();
  // Optional parameters are left out, though they have examples.
  const answered = page.waitForResponse(`${api.url}/projects`);
  await page.getByRole("button", { name: /^Send get request/ }).click();
  const answer = await answered;
  expect(answer.status()).toBe(200);
  expect((await answer.request().allHeaders())["authorization"]).toBe(`Bearer ${key}`);
  const slugs = (await answer.json()).data.map(({ slug }: { slug: string }) => slug);
  expect(slugs).toContain("shipyard");
  // The key is kept in the session of the tab only.
  expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain(key);
});

test("the reference needed no other host, and its policy blocked nothing", () => {
  expect(faults).toEqual([]);
});

test("the guides hinder nobody and lead to each other", async () => {
  await page.goto(`${api.url}/docs/guides`);
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole("main").getByRole("link", { name: "Filters" }).click();
  await page.getByRole("heading", { name: "Filters", level: 1 }).waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByRole("link", { name: "Guides", exact: true }).waitFor();
});

test("no guide is wider than a phone", async () => {
  await page.setViewportSize(PHONE);
  for (const path of guidePages("").keys()) {
    await page.goto(`${api.url}${path}`);
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width, path).toBe(PHONE.width);
  }
});
