import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { onCleanup } from "../cleanup.ts";
import { temporaryFolder } from "../folders.ts";
import { programPath } from "../programs.ts";

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

const PACKAGES = join(import.meta.dir, "../../node_modules/@expo-google-fonts");
const FONTS = [
  "inter/400Regular",
  "inter/500Medium",
  "inter/600SemiBold",
  "inter/700Bold",
  "jetbrains-mono/400Regular",
  "jetbrains-mono/700Bold",
];

const SANS = ["system-ui", "sans-serif", "serif"];
const MONO = ["ui-monospace", "monospace"];

function alias(family: string, font: string): string {
  return `<match target="pattern"><test name="family"><string>${family}</string></test>
<edit name="family" mode="assign" binding="strong"><string>${font}</string></edit></match>`;
}

/**
 * Settings of Fontconfig under which a program finds the fonts of the dev dependencies only, drawn without
 * hints, so that its pictures are the same on every machine.
 */
async function writeFontSettings(): Promise<string> {
  const folder = temporaryFolder("fonts");
  const file = join(folder, "fonts.conf");
  const settings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
${FONTS.map((font) => `<dir>${join(PACKAGES, font)}</dir>`).join("\n")}
<cachedir>${join(folder, "cache")}</cachedir>
${SANS.map((family) => alias(family, "Inter")).join("\n")}
${MONO.map((family) => alias(family, "JetBrains Mono")).join("\n")}
<match target="font">
<edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>false</bool></edit>
<edit name="rgba" mode="assign"><const>none</const></edit>
</match>
</fontconfig>
`;
  await Bun.write(file, settings);
  return file;
}
