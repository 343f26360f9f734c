import { textPage } from "../../http/static/text-page.ts";
import type { ErrorType } from "../../problem/catalogue.ts";

const escaped = Bun.escapeHTML;

/** A heading and its content; empty without content. */
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
  // The pages of all types have the same parent path, so a slug alone links to a page.
  const links = related?.map((name) => `<a href="${escaped(name)}">${escaped(name)}</a>`);
  const body = `<main class="frame narrow">
<article>
<h1>${escaped(title)}</h1>
<p class="kind"><code>${escaped(slug)}</code>, status ${status}, category ${category}</p>
<p>${escaped(detail)}</p>
${section("What to do", `<p>${escaped(suggestion)}</p>\n${list("ol", steps.map(escaped))}`)}
${section("Tips", list("ul", tips?.map(escaped)))}
${section("Example", example === undefined ? "" : `<pre>${escaped(example)}</pre>`)}
${section("Related", list("ul", links))}
</article>
</main>`;
  return textPage(title, base, body);
}
