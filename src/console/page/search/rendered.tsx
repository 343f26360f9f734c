import MarkdownIt, { type Token } from "markdown-it";
import { type ComponentChildren, h } from "preact";
import { hrefOf, type Params } from "../base/router.ts";
import { marked } from "./marked-words.tsx";

/** Longer texts are shown as they are stored, because rendering them would block the page. */
export const RENDERED_MAX_CHARS = 200_000;
const NESTING_MAX = 100;

/** Parses Markdown into tokens only. HTML elements are text. */
const reader = new MarkdownIt("commonmark", { html: false, maxNesting: NESTING_MAX }).enable([
  "table",
  "strikethrough",
]);

/** The elements for tokens. Headings have lower levels than those of the page. */
const TAGS: Readonly<Record<string, string>> = {
  ...{ h1: "h3", h2: "h4", h3: "h5", h4: "h6", h5: "h6", h6: "h6" },
  ...Object.fromEntries(
    ["p", "ul", "ol", "li", "blockquote", "em", "strong", "s", "hr", "br"].map((tag) => [tag, tag]),
  ),
  ...Object.fromEntries(["table", "thead", "tbody", "tr", "th", "td"].map((tag) => [tag, tag])),
};
/** The blocks that are marked if they belong to the passage. Blocks around them are not marked. */
const MARKED = ["heading_open", "paragraph_open", "list_item_open", "table_open", "fence"];

/** The options of rendering a file. */
interface Rendering {
  /** The path of the file, the base of relative links. */
  readonly path: string;
  /** The environment or release of linked files. */
  readonly place: Params;
  /** The offsets of the found passage; equal without one. */
  readonly start: number;
  readonly end: number;
  /** The matched words of the passage. */
  readonly words: readonly string[];
}

/** The lines [from, to) of a passage in the rendered text. */
interface Lines {
  readonly from: number;
  readonly to: number;
}

/** The end of the frontmatter, which is shown apart from the text. */
function bodyStart(content: string): number {
  return /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?:\r?\n|$)/.exec(content)?.[0].length ?? 0;
}

const lineOf = (text: string, offset: number): number =>
  text.slice(0, offset).split("\n").length - 1;

/**
 * The address of a link. A path leads to a file of the project, and an address of another host stays unchanged.
 * Undefined for a link within the text, and for other schemes.
 */
function addressOf(href: string, { path, place }: Rendering): Params["href"] {
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return href;
  if (href.startsWith("#") || /^[a-z][a-z\d+.-]*:|^\/\/|^\\/i.test(href)) return undefined;
  try {
    const base = new URL(path.split("/").map(encodeURIComponent).join("/"), "http://project/");
    const { host, pathname } = new URL(href, base);
    if (host !== "project") return undefined;
    return hrefOf(["search"], { ...place, file: decodeURIComponent(pathname.slice(1)) });
  } catch {
    return undefined;
  }
}

/** A link. A link to another host does not send a referrer, and its title shows the address. */
function Link({ href, children }: { href: string | undefined; children: ComponentChildren }) {
  if (href === undefined) return <span>{children}</span>;
  if (href.startsWith("#")) return <a href={href}>{children}</a>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Renders tokens as elements. It neither parses markup nor loads resources. */
class Renderer {
  constructor(
    private readonly of: Rendering,
    private readonly lines: Lines,
  ) {}

  elements(tokens: readonly Token[], marking: boolean): ComponentChildren[] {
    const root: ComponentChildren[] = [];
    const open: { readonly token: Token; readonly children: ComponentChildren[] }[] = [];
    for (const token of tokens) {
      if (token.nesting === 1) {
        open.push({ token, children: [] });
        continue;
      }
      const done = token.nesting === -1 ? open.pop() : undefined;
      const made =
        done === undefined ? this.leaf(token, marking) : this.element(done.token, done.children);
      (open.at(-1)?.children ?? root).push(made);
    }
    return root;
  }

  private isPassage({ map }: Token): boolean {
    return map !== null && map[0] < this.lines.to && map[1] > this.lines.from;
  }

  private element(token: Token, children: ComponentChildren[]): ComponentChildren {
    if (token.type === "link_open") {
      return <Link href={addressOf(String(token.attrGet("href")), this.of)}>{children}</Link>;
    }
    // The paragraphs of a tight list.
    if (token.hidden) return <>{children}</>;
    const isMarked = MARKED.includes(token.type) && this.isPassage(token);
    return h(TAGS[token.tag] ?? "span", isMarked ? { class: "passage" } : {}, children);
  }

  private leaf(token: Token, marking: boolean): ComponentChildren {
    const words = (text: string) => (marking ? marked(text, this.of.words) : text);
    switch (token.type) {
      case "inline":
        return this.elements(token.children ?? [], this.isPassage(token));
      case "code_inline":
        return <code>{words(token.content)}</code>;
      case "fence":
      case "code_block":
        return (
          <pre class={this.isPassage(token) ? "passage" : undefined}>
            <code>{token.content}</code>
          </pre>
        );
      case "image":
        return <span class="image">{token.content || "image"}</span>;
      case "softbreak":
        return "\n";
      case "hr":
        return <hr />;
      case "hardbreak":
        return <br />;
      default:
        return words(token.content);
    }
  }
}

/** A rendered Markdown file, with the blocks of the found passage marked. */
export function rendered(content: string, of: Rendering): ComponentChildren[] {
  const from = bodyStart(content);
  const text = content.slice(from);
  const lines =
    of.end <= Math.max(of.start, from)
      ? { from: 0, to: 0 }
      : {
          from: lineOf(text, Math.max(0, of.start - from)),
          to: lineOf(text, of.end - from - 1) + 1,
        };
  return new Renderer(of, lines).elements(reader.parse(text, {}), false);
}
