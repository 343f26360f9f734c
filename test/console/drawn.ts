import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";

/** Runs in the browser: whether the page shows all that it has asked for, and nothing moves. */
const IS_DRAWN = `(() => {
  const { dataset } = document.documentElement;
  const isConsole = document.getElementById("console") !== null;
  return (!isConsole || dataset.requests === "0")
    && document.querySelector("main .loading, main .stale") === null
    && document.fonts.status === "loaded"
    && document.getAnimations().every(({ playState }) => playState !== "running");
})()`;

/** A change of the address or of the screen is drawn in one of the next two frames, and may ask for more. */
const AFTER_TWO_FRAMES = `new Promise((resolve) => requestAnimationFrame(() =>
  requestAnimationFrame(() => resolve(${IS_DRAWN}))))`;

/** Resolves once a page has drawn what it shows at its address and on its screen. */
export async function drawn(page: Page): Promise<void> {
  await until("the page is drawn", () => page.evaluate(AFTER_TWO_FRAMES));
}
