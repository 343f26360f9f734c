import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pageHeaders } from "../../http/static/page-headers.ts";
import type { ErrorType } from "../../problem/catalogue.ts";

/** The colours and sizes of the console. */
const DESIGN = readFileSync(join(import.meta.dir, "../../console/page/styles/tokens.css"), "utf8");
const STYLE = `${DESIGN}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: var(--body) / 1.5 var(--sans); }
a { color: var(--accent); }
header { border-bottom: 1px solid var(--line); background: var(--surface); }
header nav, main { max-width: 48rem; margin: 0 auto; padding: 0 var(--s3); }
header nav { display: flex; align-items: center; justify-content: space-between; min-height: 3.5rem; }
.brand { display: flex; align-items: center; gap: var(--s2); color: inherit; font-size: var(--large); font-weight: 650;
  text-decoration: none; }
article { margin: var(--s4) 0; padding: var(--s3); border: 1px solid var(--line); border-radius: var(--radius);
  background: var(--surface); box-shadow: var(--shadow); overflow-wrap: anywhere; }
h1 { margin: 0; font-size: var(--title); line-height: 1.25; }
h2 { margin: var(--s3) 0 var(--s1); font-size: var(--large); }
p, ol, ul { margin: var(--s2) 0; }
ol, ul { padding-left: 1.5rem; }
code, pre { font: 0.9em / 1.55 var(--mono); }
pre { margin: var(--s2) 0; padding: var(--s2) var(--s3); border: 1px solid var(--line); border-radius: var(--radius);
  background: var(--sunken); white-space: pre-wrap; }
.kind { color: var(--muted); font-size: var(--small); }
`;
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** The page has no scripts, and of styles this one only. */
export const ERROR_PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders({ styles: `'sha256-${STYLE_HASH}'`, scripts: "'none'" }),
  "content-type": "text/html; charset=utf-8",
};

const escaped = Bun.escapeHTML;

/** A heading and its content; nothing without content. */
function section(heading: string, content: string): string {
  return content === "" ? "" : `<h2>${heading}</h2>\n${content}\n`;
}

function list(tag: "ol" | "ul", items: readonly string[] = []): string {
  if (items.length === 0) return "";
  return `<${tag}>${items.map((item) => `<li>${item}</li>`).join("")}</${tag}>`;
}

/** An error type as an HTML page, with the text of the catalogue. `base` is the path of the service. */
export function errorPage(slug: string, type: ErrorType, base: string): string {
  const { title, status, category, detail, suggestion, steps, tips, example, related } = type;
  // Related types are pages beside this one.
  const links = related?.map((name) => `<a href="${escaped(name)}">${escaped(name)}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<nav>
<a class="brand" href="${escaped(base)}/console"><img src="${escaped(base)}/console/icon.svg" alt="" width="20" height="20">
Tessera</a>
<a href="${escaped(base)}/docs">API documentation</a>
</nav>
</header>
<main>
<article>
<h1>${escaped(title)}</h1>
<p class="kind"><code>${escaped(slug)}</code>, status ${status}, category ${category}</p>
<p>${escaped(detail)}</p>
${section("What to do", `<p>${escaped(suggestion)}</p>\n${list("ol", steps.map(escaped))}`)}
${section("Tips", list("ul", tips?.map(escaped)))}
${section("Example", example === undefined ? "" : `<pre>${escaped(example)}</pre>`)}
${section("Related", list("ul", links))}
</article>
</main>
</body>
</html>
`;
}
