import { expect, test } from "bun:test";
import { openPage } from "../../../support/processes/browser.ts";
import { needs } from "../../../support/programs.ts";
import { api, browser, DESKTOP } from "../../console/world.ts";
import { changedPictures } from "./pictures.ts";

needs("chromium");

const { page } = await openPage(browser, api.url, DESKTOP);

test("the reference looks as in the documentation", async () => {
  await page.goto(`${api.url}/docs`);
  await page
    .getByRole("button", { name: / Group - / })
    .first()
    .waitFor();
  // The port is another one in each run.
  await page.evaluate(`for (const node of document.querySelectorAll("#docs *")) {
    if (node.children.length === 0 && node.textContent === ${JSON.stringify(api.url)})
      node.textContent = "https://tessera.example.com";
  }`);
  const settled = (scheme: string) => page.locator(`body.${scheme}-mode`).waitFor();
  expect(await changedPictures(page, "docs", settled)).toEqual([]);
});

test("the guides look as in the documentation", async () => {
  await page.goto(`${api.url}/docs/guides`);
  expect(await changedPictures(page, "guides")).toEqual([]);
  await page.getByRole("main").getByRole("link", { name: "Filters" }).click();
  await page.getByRole("heading", { name: "Filters", level: 1 }).waitFor();
  expect(await changedPictures(page, "guide")).toEqual([]);
});
