/** An element of a page, or the document, which has no attributes. */
interface PageElement {
  readonly nodeName: string;
  readonly parentNode: PageElement | null;
  getAttribute?(name: string): string | null;
}

/** Elements that are part of the surrounding text, so that their headers and footers are their own. */
const SECTIONING = /^(?:ARTICLE|MAIN|SECTION|ASIDE|BLOCKQUOTE|FIGURE|DETAILS|DIALOG|TD)$/;
/** Names of requests for consent. The word alone may as well name a chapter about consent. */
const CONSENT =
  /(?:cookie|consent|gdpr)s?[-_ ]?(?:\w{1,16}[-_])?(?:banner|bar|notice|notification|popup|modal|overlay|dialog|consent|law|manager)|\bcc-window\b|onetrust|cybotcookie|usercentrics|didomi-|osano-cm|iubenda-cs|qc-cmp2|truste-/i;
/** Classes and ids of navigation in pages that have no `nav`, as DocBook's; `sidebar` may be a remark. */
const NAVIGATION =
  /(?:^|\s)(?:nav|navbar|navheader|navfooter|navigation|breadcrumbs?|site-(?:nav|header|footer))(?:\s|$)/i;
/** Elements to which such names apply. A heading or a link with such a name belongs to a text about the matter. */
const PANELS = /^(?:DIV|SECTION|ASIDE|DIALOG|FORM|FOOTER|HEADER|TABLE|UL|OL)$/;
/** Maximum characters of a request for consent, as Markdown. A longer text is about consent, or is the page itself. */
const CONSENT_MAX_CHARS = 4_096;
/** A `main` with a smaller part of the page's Markdown is not all of its text. */
const MAIN_MIN_PART = 0.5;

/**
 * Whether an element is not part of a page's text: navigation, the header and the footer of the page, hidden elements,
 * and requests for consent to cookies.
 */
export function isFurniture(node: PageElement): boolean {
  return (
    isLandmark(node) ||
    attribute(node, "aria-hidden") === "true" ||
    isHidden(node) ||
    isPanel(node, NAVIGATION) ||
    isPanel(node, CONSENT)
  );
}

/** Text of furniture that still belongs to the page: it has the first heading of the page, or is too long. */
export function furnitureText(markdown: string, node: PageElement): string {
  const isPage =
    /^# /m.test(markdown) || (isPanel(node, CONSENT) && markdown.length > CONSENT_MAX_CHARS);
  return isPage ? `\n\n${markdown}\n\n` : "";
}

/** The `main` elements and headings of level 1 of a page, in Markdown. */
export class Outline {
  #mains = 0;
  #main = "";
  #isTitled = false;
  #title = "";
  #headTitle = "";

  addMain(markdown: string): void {
    this.#mains += 1;
    this.#main = markdown;
  }

  /** The title in the head of the page, of which only the first counts. */
  addHeadTitle(text: string): void {
    if (this.#headTitle === "") this.#headTitle = text;
  }

  addTitle(markdown: string, node: PageElement): void {
    if (isWithin(node, isMain)) this.#isTitled = true;
    else if (this.#title === "" && !isWithin(node, (each) => each.nodeName === "NAV"))
      this.#title = markdown;
  }

  /**
   * The text of the page, given its Markdown. It is the only `main`, without the text around it, unless that is much of
   * the page. A `main` without a heading of level 1 has the page's title above it. A page without a heading of level 1
   * has the title of its head.
   */
  textOf(page: string): string {
    const text = this.#bodyOf(page);
    if (this.#headTitle === "" || text === "" || this.#isTitled || this.#title !== "") return text;
    return `# ${this.#headTitle}\n\n${text}`;
  }

  #bodyOf(page: string): string {
    if (this.#mains !== 1 || this.#main.length < MAIN_MIN_PART * page.length) return page;
    const isTitle = !this.#isTitled && page.includes(this.#title);
    return (isTitle ? `${this.#title}\n\n${this.#main.trim()}` : this.#main).trim();
  }
}

function isLandmark(node: PageElement): boolean {
  if (/^(?:banner|contentinfo)$/.test(attribute(node, "role"))) return true;
  return /^(?:HEADER|FOOTER)$/.test(node.nodeName) && !isWithin(node, isSection);
}

/** Whether a browser does not show an element. Panels of tabs are shown one at a time, and found in the page. */
function isHidden(node: PageElement): boolean {
  if (attribute(node, "role") === "tabpanel") return false;
  const hidden = node.getAttribute?.("hidden") ?? null;
  if (hidden !== null && hidden !== "until-found") return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribute(node, "style"));
}

function isPanel(node: PageElement, names: RegExp): boolean {
  if (!PANELS.test(node.nodeName)) return false;
  const isNamed = names.test(attribute(node, "id")) || names.test(attribute(node, "class"));
  return isNamed && !isWithin(node, isSection);
}

/** Whether an element is the main part of its page. */
export function isMain(node: PageElement): boolean {
  return node.nodeName === "MAIN" || attribute(node, "role") === "main";
}

function isSection(node: PageElement): boolean {
  return SECTIONING.test(node.nodeName) || isMain(node);
}

function isWithin(node: PageElement, is: (node: PageElement) => boolean): boolean {
  for (let at = node.parentNode; at !== null; at = at.parentNode) {
    if (is(at)) return true;
  }
  return false;
}

function attribute(node: PageElement, name: string): string {
  return node.getAttribute?.(name) ?? "";
}
