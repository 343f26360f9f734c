import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import type { CDPSession, Page } from "playwright-core";
import sharp from "sharp";
import { drawn } from "../../console/drawn.ts";

const ROOT = join(import.meta.dir, "../../..");
/** The pictures, which the documentation shows too. */
const FOLDER = join(ROOT, "docs/console");
/** Where pictures that differ are left to look at. */
const FOUND_FOLDER = join(ROOT, ".cache/pictures");
/** Set to `record`, pictures that differ are replaced. */
const VARIABLE = "TESSERA_TEST_PICTURES";

const DESKTOP = { width: 1_280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** In an order in which little changes from one to the next. */
const VARIANTS = [
  { scheme: "light", screen: DESKTOP },
  { scheme: "light", screen: PHONE },
  { scheme: "dark", screen: PHONE },
  { scheme: "dark", screen: DESKTOP },
] as const;
type Variant = (typeof VARIANTS)[number];

/** How far two colours may be apart, of 1: another version of the browser smooths edges differently. */
const COLOUR_TOLERANCE = 0.15;
/** The share of pixels that may differ: that of a word in 40 lines of text is larger. */
const PIXEL_TOLERANCE = 0.001;
/** Few colours make a small file, and none of them is out of tolerance. */
const KEPT = { palette: true, colours: 128, dither: 0, effort: 7, compressionLevel: 9 } as const;

function nameOf(view: string, { scheme, screen }: Variant): string {
  return `${view}-${scheme}-${screen.width}.png`;
}

/** The pictures that are kept but belong to none of the views, and those of the views that are missing. */
export function strayPictures(views: readonly string[]): string[] {
  const wanted = new Set(views.flatMap((view) => VARIANTS.map((of) => nameOf(view, of))));
  const kept = readdirSync(FOLDER).filter((name) => name.endsWith(".png"));
  return [...wanted.symmetricDifference(new Set(kept))].sort();
}

function pixelsOf(picture: string | Uint8Array) {
  return sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
}

/** The share of pixels in which a picture differs from the kept one; all if that is missing or has another size. */
async function differenceOf(name: string, taken: Uint8Array): Promise<number> {
  const file = join(FOLDER, name);
  if (!existsSync(file)) return 1;
  const [before, after] = await Promise.all([pixelsOf(file), pixelsOf(taken)]);
  const { width, height } = after.info;
  if (before.info.width !== width || before.info.height !== height) return 1;
  const marked = new Uint8Array(after.data.length);
  const options = { threshold: COLOUR_TOLERANCE };
  const pixels = pixelmatch(before.data, after.data, marked, width, height, options);
  const share = pixels / (width * height);
  if (share > PIXEL_TOLERANCE) {
    mkdirSync(FOUND_FOLDER, { recursive: true });
    const raw = { width, height, channels: 4 } as const;
    await sharp(marked, { raw })
      .png()
      .toFile(join(FOUND_FOLDER, `difference-${name}`));
    await Bun.write(join(FOUND_FOLDER, name), taken);
  }
  return share;
}

/** What is wrong with a picture, in words; undefined for nothing. */
async function faultOf(name: string, taken: Uint8Array): Promise<string | undefined> {
  const share = await differenceOf(name, taken);
  if (share <= PIXEL_TOLERANCE) return undefined;
  if (process.env[VARIABLE] === "record") {
    mkdirSync(FOLDER, { recursive: true });
    await sharp(taken).png(KEPT).toFile(join(FOLDER, name));
    return undefined;
  }
  const percent = (share * 100).toFixed(2);
  return `docs/console/${name} differs in ${percent} %, see ${FOUND_FOLDER}; ${VARIABLE}=record replaces it`;
}

/** A picture of what the page looks like once it does not change any more. */
async function steadyPicture(browser: CDPSession): Promise<Uint8Array> {
  let last = "";
  for (;;) {
    const { data } = await browser.send("Page.captureScreenshot", { format: "png" });
    if (data === last) return Buffer.from(data, "base64");
    last = data;
  }
}

/**
 * Compares a view with its pictures in both colour schemes, on a desktop and on a phone. Returns which
 * differ.
 *
 * @param settled waits for what a change of the colour scheme changes later
 */
export async function changedPictures(
  page: Page,
  view: string,
  settled: (scheme: Variant["scheme"]) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const faults: string[] = [];
  // Asked for directly, because the library's own way takes ten times as long.
  const browser = await page.context().newCDPSession(page);
  for (const variant of VARIANTS) {
    await page.setViewportSize(variant.screen);
    await page.emulateMedia({ colorScheme: variant.scheme, reducedMotion: "reduce" });
    await settled(variant.scheme);
    await drawn(page);
    const fault = await faultOf(nameOf(view, variant), await steadyPicture(browser));
    if (fault !== undefined) faults.push(fault);
  }
  await browser.detach();
  return faults;
}
