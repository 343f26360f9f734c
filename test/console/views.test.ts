import { expect, setDefaultTimeout, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import type { Demo } from "../../src/demo/content.ts";
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/observability/log.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { openPage } from "../../support/processes/browser.ts";
import { until } from "../../support/until.ts";
import { changedPictures, strayPictures } from "./pictures.ts";
import { api, browser, DESKTOP } from "./world.ts";

setDefaultTimeout(120_000);

/** When all pictures are taken, and when all that they show happened. */
const NOW = new Date("2026-03-02T10:30:00Z");
const THEN = "2026-03-02T09:15:00.000Z";

/** What differs between two runs, and what is shown instead. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z/g, THEN],
  [/(?<="server":")[^"]+/g, "0c4f7a52"],
  [/(?<="key_prefix":")[^"]+/g, "Zk3vT8mWq1Lp"],
];

async function answer(route: Route): Promise<void> {
  const response = await route.fetch();
  const text = await response.text();
  const body = CHANGING.reduce((now, [what, by]) => now.replace(what, by), text);
  await route.fulfill({ response, body });
}

async function openDemo(): Promise<{ page: Page; demo: Demo }> {
  const demo = await createDemo(temporaryFolder("demo"), api.sql, createLog("fatal"));
  if (demo === undefined) throw new Error("the demo project exists");
  const as = { userId: "", headers: { "x-api-key": demo.key } };
  await until(async () => {
    await api.post("/projects/demo/retrieve", { query: "anything" }, as);
    return (await api.get("/projects/demo/index-state", as)).body.complete;
  });
  const { page } = await openPage(browser, api.url, DESKTOP);
  await page.clock.setFixedTime(NOW);
  // Durations, too, differ from run to run.
  await page.addInitScript("performance.now = () => 0");
  await page.route((url) => !url.pathname.startsWith("/console"), answer);
  return { page, demo };
}

const { page, demo } = await openDemo();

/** Goes to an address and waits until nothing is loading. */
async function go(address: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${api.url}/console${address}`);
  await page.waitForLoadState("networkidle");
}

/** Two frames after a change of the screen, the page has its new form. */
const settled = () =>
  page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

async function looksAsKept(view: string): Promise<void> {
  expect(await changedPictures(page, view, settled)).toEqual([]);
}

const QUESTION = "project=demo&q=how+do+releases+share+files";
/** The views of a user who has signed in. */
const VIEWS: Readonly<Record<string, string>> = {
  search: `#/search?${QUESTION}`,
  projects: "#/projects",
  project: "#/projects/demo",
  keys: "#/keys",
};

test("signing in looks as in the documentation", async () => {
  await go("");
  await looksAsKept("sign-in");
  await page.evaluate(`sessionStorage.setItem("tessera.credential", "${demo.key}")`);
});

for (const [view, address] of Object.entries(VIEWS)) {
  test(`the view ${view} looks as in the documentation`, async () => {
    await go(address);
    await looksAsKept(view);
  });
}

test("an opened result looks as in the documentation", async () => {
  await go(`#/search?${QUESTION}`);
  await page.getByRole("list", { name: "Results" }).getByRole("link").first().click();
  await page.getByRole("region", { name: "Text of the document" }).waitFor();
  await page.waitForLoadState("networkidle");
  await looksAsKept("document");
});

test("every picture in the documentation is of a view, and every view has its pictures", () => {
  expect(strayPictures([...Object.keys(VIEWS), "sign-in", "document", "docs"])).toEqual([]);
});
