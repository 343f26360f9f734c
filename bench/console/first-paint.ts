/**
 * When each view of the console, the reference and a guide show something, in a browser that has nothing cached.
 *
 *   bun bench/console/first-paint.ts [--rounds 9] [--pages search,keys]
 *
 * The service has the demo project. Rounds go through all pages in turn, beside a page that is a line of HTML. Printed
 * are medians: of the first contentful paint, and of when the contents of the view are there. Needs chromium.
 */
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { startBrowser } from "../../support/processes/browser.ts";
import { until } from "../../support/until.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { median } from "../harness/statistics.ts";

/** All pages unless some are named. */
export const OPTIONS = { rounds: 9, pages: "" };

const SCREEN = { width: 1_280, height: 800 };
/** What the contents of a page are in. */
const SHOWN = ".panel, .result, article, .operations li";
/** Runs in the page: notes the first frame with the contents. */
const NOTE_CONTENTS = `{
  globalThis.contentsAt = null;
  const look = () => {
    if (document.querySelector(${JSON.stringify(SHOWN)}) === null) requestAnimationFrame(look);
    else globalThis.contentsAt = performance.now();
  };
  look();
}`;
const BARE = "a line of HTML";
const PROJECT = "/console#/projects/demo";

/** What is measured, with the page that a browser needs least for. */
const PAGES: Readonly<Record<string, string>> = {
  [BARE]: "",
  search: "/console#/search?project=demo&q=how+do+releases+share+files",
  projects: "/console#/projects",
  project: PROJECT,
  files: `${PROJECT}/files`,
  releases: `${PROJECT}/releases`,
  members: `${PROJECT}/members`,
  settings: `${PROJECT}/settings`,
  questions: `${PROJECT}/questions`,
  audit: `${PROJECT}/audit`,
  deliveries: `${PROJECT}/deliveries`,
  operate: "/console#/operate",
  keys: "/console#/keys",
  "the reference": "/docs",
  "a guide": "/docs/guides/filters",
};

/** Milliseconds since the navigation, in one load or as medians. */
interface Painted {
  readonly page: string;
  readonly firstPaint: number;
  readonly contents: number;
}

export async function run(options: typeof OPTIONS, context: BenchContext): Promise<Painted[]> {
  const { rounds } = options;
  const names = options.pages.split(",");
  const isWanted = (page: string) => options.pages === "" || page === BARE || names.includes(page);
  const pages = Object.entries(PAGES).filter(([page]) => isWanted(page));
  const database = await context.openDatabase();
  const demo = await createDemo(temporaryFolder("demo"), database.sql, createLog("fatal"));
  const service = await context.startServer({ ...database.env, DEMO: "off" });
  const bare = Bun.serve({
    port: 0,
    fetch: () =>
      new Response("<!doctype html><article>A line</article>", {
        headers: { "content-type": "text/html" },
      }),
  });
  const browser = await startBrowser();
  const load = async (page: string, address: string): Promise<Painted> => {
    const visitor = await browser.newContext({ viewport: SCREEN });
    const tab = await visitor.newPage();
    await tab.addInitScript(`sessionStorage.setItem("tessera.credential", "${demo?.key}")`);
    await tab.addInitScript(NOTE_CONTENTS);
    await tab.goto(address);
    // The policy of the guides keeps the browser's own way to wait from running.
    await until(async () => (await tab.evaluate("contentsAt")) !== null);
    const contents = Number(await tab.evaluate("contentsAt"));
    const entry = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime`;
    await until(async () => (await tab.evaluate(entry)) !== undefined);
    const firstPaint = Number(await tab.evaluate(entry));
    await visitor.close();
    return { page, firstPaint, contents };
  };
  const loads: Painted[] = [];
  // The first round bundles the console and fills the caches of the service.
  for (let round = 0; round <= rounds; round++) {
    for (const [page, path] of pages) {
      const address = path === "" ? bare.url.href : new URL(path, service.url).href;
      const loaded = await load(page, address);
      if (round > 0) loads.push(loaded);
    }
  }
  await Promise.all([browser.close(), bare.stop(true)]);
  const { out } = context;
  out.head("page", "first paint, ms", "contents, ms");
  return pages.map(([page]) => {
    const own = loads.filter((each) => each.page === page);
    const of = (field: "firstPaint" | "contents") =>
      Math.round(median(own.map((each) => each[field])));
    const [firstPaint, contents] = [of("firstPaint"), of("contents")];
    out.row(page, firstPaint, contents);
    return { page, firstPaint, contents };
  });
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
