import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { lazy } from "../../ops/lazy.ts";
import { textPage } from "./text-page.ts";

const FOLDER = join(import.meta.dir, "../../../docs");
/** Where the guides are, below the path of the service. */
const PATH = "/docs/guides";

type Titles = Readonly<Record<string, string>>;

/** The pages of `docs/` for who uses or runs the service, with the titles by which they are listed. */
const GUIDES: Readonly<Record<string, Titles>> = {
  Build: {
    "build-search": "Build search into an application",
    api: "Operations and conventions",
    platform: "Webhooks, conversations, branches and billing",
    filters: "Filters",
    "import-format": "Import records",
    sync: "Keep a folder in step",
    migration: "Move from another vector store",
    mcp: "Connect assistants",
    credentials: "Credentials, roles, permissions",
  },
  Run: {
    commands: "Commands",
    configuration: "Configuration",
    operations: "Operate the service",
    models: "Models within the service",
    nodes: "Several nodes",
    pgvector: "Vectors in PostgreSQL",
    capacity: "Plan capacity",
    troubleshooting: "Troubleshooting",
  },
  Trust: {
    guarantees: "Guarantees",
    security: "Security",
    performance: "Performance",
  },
};

const escaped = Bun.escapeHTML;

/** Each is a file of `docs/`. */
const GUIDE_NAMES: readonly string[] = Object.values(GUIDES).flatMap(Object.keys);

/** The anchor of a heading, as hosts of repositories make it. */
function anchorOf(heading: string): string {
  const kept = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "");
  return kept.trim().replace(/\s/g, "-");
}

/** The target of a link of a guide; undefined for a file that the service does not show, such as a source. */
function addressOf(href: string, base: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, name = "", anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return GUIDE_NAMES.includes(name) ? `${base}${PATH}/${name}${anchor}` : undefined;
}

/** A reader of Markdown that makes the text of a page. Elements of HTML, of which guides have comments, are left out. */
async function openReader(base: string) {
  const { default: Reader } = await import("markdown-it");
  const reader = new Reader("commonmark", { html: true }).enable("table");
  const { rules } = reader.renderer;
  rules["html_block"] = () => "";
  rules["html_inline"] = () => "";
  // Blocks that are wider than the page scroll, by the keyboard as well.
  rules["table_open"] = () => `<div class="wide" tabindex="0"><table>`;
  rules["table_close"] = () => "</table></div>";
  const { fence } = rules;
  rules["fence"] = (...given) => fence?.(...given).replace("<pre>", `<pre tabindex="0">`) as string;
  rules["heading_open"] = (tokens, index) => {
    const { tag } = tokens[index] as { tag: string };
    return `<${tag} id="${escaped(anchorOf(tokens[index + 1]?.content ?? ""))}">`;
  };
  rules["link_open"] = (tokens, index) => {
    const address = addressOf(String(tokens[index]?.attrGet("href")), base);
    return address === undefined ? "<a>" : `<a href="${escaped(address)}">`;
  };
  return reader;
}

/** The lists of all guides, by their groups. @param itemOf the content of the item of a guide */
function guideLists(itemOf: (name: string, title: string) => string, attributes = ""): string {
  const groups = Object.entries(GUIDES).map(([group, titles]) => {
    const items = Object.entries(titles).map(([name, title]) => `<li>${itemOf(name, title)}</li>`);
    return `<h2>${group}</h2>\n<ul${attributes}>${items.join("\n")}</ul>`;
  });
  return groups.join("\n");
}

/** The list of all guides, with the parts of the one that is shown. */
function contents(base: string, shown: string, text: string): string {
  const parts = [...text.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/g)].map(
    ([, anchor, heading = ""]) =>
      `<li><a href="#${anchor}">${heading.replace(/<[^>]*>/g, "")}</a></li>`,
  );
  const below = parts.length === 0 ? "" : `<ul>${parts.join("")}</ul>`;
  return guideLists((name, title) =>
    name === shown
      ? `<a href="${base}${PATH}/${name}" aria-current="page">${title}</a>${below}`
      : `<a href="${base}${PATH}/${name}">${title}</a>`,
  );
}

function frame(base: string, title: string, shown: string, text: string): string {
  const body = `<div class="frame">
<nav class="contents" aria-label="Guides">
${contents(base, shown, text)}
</nav>
<main>
<article>
${text}
</article>
</main>
</div>`;
  return textPage(`${title} - Tessera`, base, body);
}

/** The page that lists all guides, each with the beginning of its text. */
function indexOf(base: string, texts: ReadonlyMap<string, string>): string {
  const itemOf = (name: string, title: string) => {
    const [, lead = ""] = /<p>([\s\S]*?)<\/p>/.exec(texts.get(name) ?? "") ?? [];
    const [sentence] = lead.replace(/<[^>]*>/g, "").split(/(?<=[^.]\.)\s/);
    return `<a href="${base}${PATH}/${name}">${title}</a><br><span class="lead">${sentence}</span>`;
  };
  return `<h1>Guides</h1>\n${guideLists(itemOf, ' class="entries"')}`;
}

/**
 * The guides as pages in HTML, by their paths below that of the service. They are made of the files in `docs/` when
 * they are asked for first, and have the headers of a page of text.
 *
 * @param base the path of the service, without a trailing slash
 */
export function guidePages(base: string): ReadonlyMap<string, () => Promise<string>> {
  const path = escaped(base);
  const reader = lazy(() => openReader(base));
  const textOf = async (name: string) =>
    (await reader()).render(await readFile(join(FOLDER, `${name}.md`), "utf8"));
  const guides = Object.values(GUIDES).flatMap((titles) =>
    Object.entries(titles).map(([name, title]) => {
      const make = lazy(async () => frame(path, title, name, await textOf(name)));
      return [`${PATH}/${name}`, make] as const;
    }),
  );
  const list = lazy(async () => {
    const texts = GUIDE_NAMES.map(async (name) => [name, await textOf(name)] as const);
    return frame(path, "Guides", "", indexOf(path, new Map(await Promise.all(texts))));
  });
  return new Map([[PATH, list], ...guides]);
}
