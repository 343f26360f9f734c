import type { Token } from "markdown-it";
import { type ComponentChildren, h } from "preact";
import { dialect } from "../../../documents/markdown/dialect.ts";
import { hrefOf, type Params } from "../base/router.ts";
import { markedWords } from "./marked.tsx";

/** Longer texts are shown as they are stored, because rendering them would block the page. */
export const RENDERED_MAX_CHARS = 200_000;

/** The elements whose tags are others than those of their tokens. Headings are below those of the page. */
const TAGS: Readonly<Record<string, string>> = {
  h1: "h3",
  h2: "h4",
  h3: "h5",
  h4: "h6",
  h5: "h6",
  // An admonition.
  "": "blockquote",
};
/** The blocks that are marked if they belong to the passage. Blocks around them are not marked. */
const MARKED = ["heading_open", "paragraph_open", "list_item_open", "table_open"];

/** The options of rendering a file. */
interface Rendering {
  /** The path of the file, the base of relative links. */
  readonly path: string;
  /** The parameters of links to other files. */
  readonly links: Params;
  /** The offsets of the found passage; equal without one. */
  readonly start: number;
  readonly end: number;
  /** The matched words of the passage. */
  readonly words: readonly string[];
}

/** The end of the frontmatter, which is shown apart from the text. */
function bodyStart(content: string): number {
  return /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?:\r?\n|$)/.exec(content)?.[0].length ?? 0;
}

/**
 * The address of a link. A path leads to a file of the project, and an address of another host stays unchanged.
 * Undefined for a link within the text, and for other schemes.
 */
function addressOf(href: string, { path, links }: Rendering): string | undefined {
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return href;
  if (href.startsWith("#") || /^[a-z][a-z\d+.-]*:|^\/\/|^\\/i.test(href)) return undefined;
  try {
    const base = new URL(path.split("/").map(encodeURIComponent).join("/"), "http://project/");
    const { host, pathname } = new URL(href, base);
    if (host !== "project") return undefined;
    return hrefOf(["search"], { ...links, file: decodeURIComponent(pathname.slice(1)) });
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

/**
 * A Markdown file as elements, as the service reads it, with the blocks of the found passage marked. Elements of HTML are
 * text. Neither markup is parsed, nor a resource loaded.
 */
export function rendered(content: string, of: Rendering): ComponentChildren[] {
  const from = bodyStart(content);
  const text = content.slice(from);
  const lineOf = (offset: number) =>
    text.slice(0, Math.max(0, offset - from)).split("\n").length - 1;
  const [first, last] = [lineOf(of.start), lineOf(of.end - 1)];
  const hasPassage = of.end > Math.max(of.start, from);
  const isPassage = ({ map }: Token) =>
    hasPassage && map !== null && map[0] <= last && map[1] > first;

  const element = (token: Token, children: ComponentChildren[]): ComponentChildren => {
    if (token.type === "link_open") {
      return <Link href={addressOf(String(token.attrGet("href")), of)}>{children}</Link>;
    }
    // The paragraphs of a tight list.
    if (token.hidden) return <>{children}</>;
    const isMarked = MARKED.includes(token.type) && isPassage(token);
    return h(TAGS[token.tag] ?? token.tag, isMarked ? { class: "passage" } : {}, children);
  };

  const leaf = (token: Token, marking: boolean): ComponentChildren => {
    const words = marking ? markedWords(token.content, of.words) : token.content;
    const marked = isPassage(token) ? "passage" : undefined;
    switch (token.type) {
      case "inline":
        return elements(token.children ?? [], isPassage(token));
      case "code_inline":
        return <code>{words}</code>;
      case "fence":
      case "code_block":
        return (
          <pre class={marked}>
            <code>{token.content}</code>
          </pre>
        );
      case "html_block":
        return <p class={marked}>{token.content}</p>;
      case "image":
        return <span class="image">{token.content || "image"}</span>;
      case "softbreak":
        return "\n";
      case "hr":
        return <hr />;
      case "hardbreak":
        return <br />;
      default:
        return words;
    }
  };

  const elements = (tokens: readonly Token[], marking: boolean): ComponentChildren[] => {
    const root: ComponentChildren[] = [];
    const open: { readonly token: Token; readonly children: ComponentChildren[] }[] = [];
    for (const token of tokens) {
      if (token.nesting === 1) {
        open.push({ token, children: [] });
        continue;
      }
      const done = token.nesting === -1 ? open.pop() : undefined;
      const made = done ? element(done.token, done.children) : leaf(token, marking);
      (open.at(-1)?.children ?? root).push(made);
    }
    return root;
  };

  return elements(dialect.parse(text, {}), false);
}
