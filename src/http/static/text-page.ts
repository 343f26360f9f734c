import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pageHeaders } from "./page-headers.ts";

/** The colours and sizes of the console, and the rules of pages of text. */
const STYLE = ["../../console/page/styles/tokens.css", "page/text-page.css"]
  .map((file) => readFileSync(join(import.meta.dir, file), "utf8"))
  .join("\n");
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

export const HTML_TYPE = "text/html; charset=utf-8";

/** Such a page has no scripts, and of styles those above only. */
export const TEXT_PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders({ styles: `'sha256-${STYLE_HASH}'`, scripts: "'none'" }),
  "content-type": HTML_TYPE,
};

/**
 * A page of text in the style of the console, with links to it and to the documentation.
 *
 * @param base the path of the service, without a trailing slash
 * @param body markup of the page below its header
 */
export function textPage(title: string, base: string, body: string): string {
  const path = Bun.escapeHTML(base);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${Bun.escapeHTML(title)}</title>
<link rel="icon" href="${path}/console/icon.svg">
<style>${STYLE}</style>
</head>
<body>
<header>
<nav aria-label="Tessera">
<a class="brand" href="${path}/console" aria-label="Tessera"><img src="${path}/console/icon.svg" alt="" width="20" height="20">
<span>Tessera</span></a>
<a href="${path}/console">Console</a>
<a href="${path}/docs/guides">Guides</a>
<a href="${path}/docs">API reference</a>
</nav>
</header>
${body}
</body>
</html>
`;
}
