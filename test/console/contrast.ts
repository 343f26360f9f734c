import type { Page } from "playwright-core";

/** Of text that is smaller than 24 pixels, by the level AA of WCAG. */
const MINIMUM = 4.5;

/**
 * Runs in the browser: texts whose colour is too close to the one behind them. Colours are resolved by a
 * canvas, so that every notation and transparency counts.
 */
const FIND = `((minimum) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const over = (layers) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of layers) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const backgrounds = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    return ["white", ...found];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faults = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || !element.checkVisibility() || element.closest(":disabled, option")) continue;
    const behind = backgrounds(element);
    const { color } = getComputedStyle(element);
    const value = ratio(over([...behind, color]), over(behind));
    if (value < minimum) faults.add(element.className + " " + node.data.trim().slice(0, 30) + " " + value.toFixed(2));
  }
  return [...faults];
})(${MINIMUM})`;

/** The texts of a page that are hard to read, with the contrast of each. */
export async function contrastFaults(page: Page): Promise<string[]> {
  return (await page.evaluate(FIND)) as string[];
}
