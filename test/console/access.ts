import axe from "axe-core";
import type { Page } from "playwright-core";

/** Runs in the browser, where axe is: what breaks its rules, with the first element of each. */
const find = (rules: readonly string[] | undefined) => `axe.run(document, ${JSON.stringify({
  preload: false,
  resultTypes: ["violations"],
  ...(rules === undefined ? {} : { runOnly: rules }),
})}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.length + ", " + nodes[0].html.slice(0, 200)))`;

/**
 * What hinders people with disabilities in a page as it is, missing names and faint colours among it, as axe finds it.
 *
 * @param rules of axe; all by default
 */
export async function accessFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  return (await page.evaluate(find(rules))) as string[];
}
