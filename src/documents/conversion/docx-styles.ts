import { childOf, isElement, valueIn, type XmlElement } from "./docx-xml.ts";

/** Markdown has no lower headings. */
const LEVEL_MAX = 6;
/** The outline level of text. */
const BODY_TEXT = 9;

interface Style {
  readonly name: string;
  readonly basedOn: string | undefined;
  readonly outlineLevel: string | undefined;
}

/** The levels of headings, from 1, by the styles and properties of paragraphs. */
export class HeadingLevels {
  readonly #styles = new Map<string, Style>();

  /** @param styles the part of a document that has its styles, if there is one */
  constructor(styles: XmlElement | undefined) {
    for (const style of styles?.children ?? []) {
      if (!isElement(style, "w:style")) continue;
      const id = style.attributes["w:styleId"] ?? "";
      if (this.#styles.has(id)) continue;
      this.#styles.set(id, {
        name: valueIn(style, "w:name") ?? id,
        basedOn: valueIn(style, "w:basedOn"),
        outlineLevel: valueIn(childOf(style, "w:pPr"), "w:outlineLvl"),
      });
    }
  }

  /** The level of a paragraph with these properties; 0 for text, undefined if they do not decide. */
  of(properties: XmlElement | undefined): number | undefined {
    const own = valueIn(properties, "w:outlineLvl");
    return own === undefined ? this.#ofStyle(valueIn(properties, "w:pStyle")) : levelOf(own);
  }

  #ofStyle(first: string | undefined): number | undefined {
    const seen = new Set<string>();
    for (let id = first; id !== undefined && !seen.has(id); ) {
      seen.add(id);
      const style = this.#styles.get(id);
      if (style?.outlineLevel !== undefined) return levelOf(style.outlineLevel);
      const level = levelOfName(style?.name ?? id) ?? levelOfName(id);
      if (level !== undefined) return level;
      id = style?.basedOn;
    }
    return undefined;
  }
}

function levelOf(outlineLevel: string): number {
  const level = Number(outlineLevel);
  return level >= 0 && level < BODY_TEXT ? Math.min(level + 1, LEVEL_MAX) : 0;
}

function levelOfName(name: string): number | undefined {
  const [, level] = /^heading ?([1-9])$/i.exec(name) ?? [];
  if (level !== undefined) return Math.min(Number(level), LEVEL_MAX);
  return /^title$/i.test(name) ? 1 : /^subtitle$/i.test(name) ? 2 : undefined;
}
