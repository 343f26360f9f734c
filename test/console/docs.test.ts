import { expect, test } from "bun:test";
import { VERSION } from "../../src/shared/version.ts";
import { openPage } from "../../support/processes/browser.ts";
import { needs } from "../../support/programs.ts";
import { contrastFaults } from "./contrast.ts";
import { changedPictures } from "./pictures.ts";
import { api, browser, DESKTOP, key } from "./world.ts";

needs("chromium");

const { page, faults } = await openPage(browser, api.url, DESKTOP);
// The console has signed in with the key in this tab.
await page.addInitScript(`if (location.origin === ${JSON.stringify(api.url)})
  sessionStorage.setItem("tessera.credential", ${JSON.stringify(key)})`);
await page.goto(`${api.url}/docs`);
await page.getByText("Find the best chunks by text, by vector or by both").first().waitFor();

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
    // The key is in a transparent text below its dots.
    const hard = (await contrastFaults(page)).filter(
      (text) => !text.startsWith("credential-value"),
    );
    expect(hard, colorScheme).toEqual([]);
  }
});

test("the reference begins with retrieval and search, and names one version, that of the product", async () => {
  const groups = await page.getByRole("button", { name: / Group - / }).allTextContents();
  expect(groups.slice(0, 2)).toEqual(["Close Group - Search", "Open Group - Knowledge"]);
  const first = page.locator('a[href^="#tag/search/"]').first();
  expect(await first.textContent()).toStartWith("Find the best chunks");
  expect(await page.locator("#docs").textContent()).toContain(`v${VERSION}`);
});

test("the reference looks as in the documentation", async () => {
  // The port is another one in each run.
  await page.evaluate(`for (const node of document.querySelectorAll("#docs *")) {
    if (node.children.length === 0 && node.textContent === ${JSON.stringify(api.url)})
      node.textContent = "https://tessera.example.com";
  }`);
  const settled = (scheme: string) => page.locator(`body.${scheme}-mode`).waitFor();
  expect(await changedPictures(page, "docs", settled)).toEqual([]);
});

test("the reference leads back to the console", async () => {
  const back = page.getByRole("link", { name: "Back to the console" });
  expect(await back.getAttribute("href")).toBe("/console");
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
