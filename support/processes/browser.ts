import { type Browser, chromium, type Page } from "playwright-core";
import { onCleanup } from "../cleanup.ts";

const PROGRAM = Bun.which("chromium") ?? Bun.which("google-chrome") ?? "chromium";

/** A page, with what its browser refused or sent elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  /** Violations of the content security policy, errors of scripts, and requests to other hosts. */
  readonly faults: string[];
}

/** Starts a browser without a window. It ends after the last test. */
export async function startBrowser(): Promise<Browser> {
  // Root has no sandbox, and containers have little shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: PROGRAM, args });
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
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
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
