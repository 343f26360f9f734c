import { type Browser, chromium, type Page } from "playwright-core";
import { onCleanup } from "../cleanup.ts";
import { programPath } from "../programs.ts";
import { writeFontSettings } from "./fonts.ts";

/** Patience with a busy machine. Tests end by their own timeout. */
const PATIENCE_MS = 240_000;

/** Where the reader is: numbers and times look alike wherever the tests run. */
const PLACE = { locale: "en-GB", timezoneId: "UTC" };

/** A page, with what its browser refused or sent elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  /** Violations of the content security policy, errors of scripts, and requests to other hosts. */
  readonly faults: string[];
}

const ARGUMENTS = [
  // Root has no sandbox, and containers have little shared memory.
  ...["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  // Pages look the same on every machine.
  ...[
    "--lang=en-GB",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
  ],
];

/** Starts a browser without a window. It ends after the last test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: programPath("chromium"),
    args: ARGUMENTS,
    env: { ...process.env, FONTCONFIG_FILE: await writeFontSettings() },
  });
  onCleanup(() => browser.close());
  return browser;
}

/** A new tab with a session of its own, on a screen of this size. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: { width: number; height: number; colorScheme?: "light" | "dark" },
): Promise<WatchedPage> {
  const { width, height, colorScheme = "light" } = options;
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme, ...PLACE });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
}
