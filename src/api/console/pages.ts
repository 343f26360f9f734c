import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Elysia } from "elysia";
import { basePathOf } from "../../http/request.ts";
import { pageHeaders } from "../../http/static/page-headers.ts";
import { StaticDocument } from "../../http/static/static-document.ts";

const FOLDER = join(import.meta.dir, "page");
const PAGE = "index.html";
/** In the page, the path below which its files are. */
const PLACEHOLDER = "{console}";

const encoder = new TextEncoder();

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The path of each file: that of the page is the console's own. */
function routesOf(path: string): Array<{ file: string; route: string }> {
  const files = readdirSync(FOLDER).filter((file) => extname(file) in TYPES);
  return files.map((file) => ({ file, route: file === PAGE ? path : `${path}/${file}` }));
}

/** The paths that `mountConsole` serves. */
export function consolePaths(path: string): string[] {
  return routesOf(path).map(({ route }) => route);
}

/**
 * Serves the console at `path`: a page that calls the operations with the caller's own credential, and
 * so needs none itself. Its files are read once and sent unless the browser has them.
 *
 * @param start lets a request start in this turn of the event loop or a later one
 */
export function mountConsole(
  app: Elysia,
  path: string,
  baseUrl: string,
  start: () => Promise<void> | undefined,
): void {
  const base = `${basePathOf(baseUrl)}${path}`;
  for (const { file, route } of routesOf(path)) {
    const body = readFileSync(join(FOLDER, file), "utf8").replaceAll(PLACEHOLDER, base);
    const type = TYPES[extname(file)] as string;
    const document = new StaticDocument(encoder.encode(body), type, pageHeaders());
    app.get(route, async ({ request }) => {
      await start();
      return await document.respond(request);
    });
  }
}
