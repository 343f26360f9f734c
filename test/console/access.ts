import axe from "axe-core";
import type { Page } from "playwright-core";

/** Of all rules, that whose outcome depends on colours. */
const COLOURS = ["color-contrast"];

/** Runs in the browser, where axe is: what breaks its rules, with the first element of each. */
const find = (rules: readonly string[] | undefined) => `axe.run(document, ${JSON.stringify({
  ...{ preload: false, resultTypes: ["violations"] },
  ...(rules === undefined ? {} : { runOnly: rules }),
})}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.length + ", " + nodes[0].html.slice(0, 200)))`;

/** What hinders people with disabilities in a page as it is, missing names among it, as axe finds it in both colours. */
export async function accessFaults(page: Page): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  await page.emulateMedia({ colorScheme: "light" });
  const light = (await page.evaluate(find(undefined))) as string[];
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = (await page.evaluate(find(COLOURS))) as string[];
  return [...light, ...dark.map((fault) => `dark: ${fault}`)];
}
