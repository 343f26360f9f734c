import axe from "axe-core";
import type { Page } from "playwright-core";

/** Runs in the browser, where axe is: what breaks its rules, with the first element of each. */
const FIND = `axe.run(document, { preload: false, resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.length + ", " + nodes[0].html.slice(0, 200)))`;

/** What hinders people with disabilities in a page as it is, missing names and faint colours among it, as axe finds it. */
export async function accessFaults(page: Page): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  return (await page.evaluate(FIND)) as string[];
}
