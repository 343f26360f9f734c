import { createHash } from "node:crypto";
import { pageHeaders } from "../../http/static/page-headers.ts";
import type { ErrorType } from "../../problem/catalogue.ts";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid; }
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

/** An error type as an HTML page, with the text of the catalogue. `docs` is the path of the API's page. */
export function errorPage(slug: string, type: ErrorType, docs: string): string {
  const { title, status, category, detail, suggestion, steps, tips, example, related } = type;
  // Related types are pages beside this one.
  const links = related?.map((name) => `<a href="${escaped(name)}">${escaped(name)}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p><code>${escaped(slug)}</code>, status ${status}, category ${category}</p>
<p>${escaped(detail)}</p>
${section("What to do", `<p>${escaped(suggestion)}</p>\n${list("ol", steps.map(escaped))}`)}
${section("Tips", list("ul", tips?.map(escaped)))}
${section("Example", example === undefined ? "" : `<pre>${escaped(example)}</pre>`)}
${section("Related", list("ul", links))}
<p><a href="${escaped(docs)}">API documentation</a></p>
</body>
</html>
`;
}
