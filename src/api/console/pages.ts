import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Elysia } from "elysia";
import { entityTag, isCurrent } from "../../http/conditional.ts";
import { pageHeaders } from "../../http/page-headers.ts";
import { basePathOf } from "../../http/target.ts";

const FOLDER = join(import.meta.dir, "page");
const PAGE = "index.html";
/** In the page, the path below which its files are. */
const PLACEHOLDER = "{console}";

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
 */
export function mountConsole(app: Elysia, path: string, baseUrl: string): void {
  const base = `${basePathOf(baseUrl)}${path}`;
  for (const { file, route } of routesOf(path)) {
    const body = readFileSync(join(FOLDER, file), "utf8").replaceAll(PLACEHOLDER, base);
    const etag = entityTag(body);
    const type = TYPES[extname(file)] as string;
    const headers = { ...pageHeaders(), etag, "cache-control": "no-cache" };
    app.get(route, ({ request }) =>
      isCurrent(request.headers.get("if-none-match"), etag)
        ? new Response(null, { status: 304, headers })
        : new Response(body, { headers: { ...headers, "content-type": type } }),
    );
  }
}
