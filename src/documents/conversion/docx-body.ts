import { equationText } from "./docx-math.ts";
import type { HeadingLevels } from "./docx-styles.ts";
import { childOf, element, isElement, type XmlElement, type XmlNode } from "./docx-xml.ts";

/** Elements around text that the converter does not know. */
const WRAPPER = /^w:(?:fldSimple|dir|bdo|rubyBase)$/;
/** Elements that Word does not show. */
const REMOVED = /^w:(?:del|moveFrom)$/;
const EQUATION = /^m:oMath(?:Para)?$/;
const DRAWING = /^w:(?:drawing|pict|object)$/;
/** Elements whose children are paragraphs. */
const BLOCKS = /^w:(?:body|tc|txbxContent|footnote|endnote)$/;
/** Documents within the document. */
const OTHER_DOCUMENT = /^w:(?:altChunk|subDoc|contentPart)$/;
const READABLE = /^(?:w:txbxContent|w:t|m:t|a:graphicData)$/;
/** Graphics with text, by the last part of the address of their kind. */
const GRAPHICS: Readonly<Record<string, string>> = {
  chart: "chart",
  chartex: "chart",
  diagram: "diagram",
};

/** A field between its start and its end. Its instruction may have texts, also the results of other fields. */
interface Field {
  readonly instruction: XmlElement[];
  hasResult: boolean;
}

/**
 * Rewrites the parts of a Word document with the elements that the converter knows: equations as text, the text of text
 * boxes once, the results of fields without their instructions, and headings by one style for each level.
 */
export class DocxBody {
  /** The number of parts of each kind that are left out. */
  readonly leftOut = new Map<string, number>();
  readonly #fields: Field[] = [];

  constructor(private readonly levels: HeadingLevels) {}

  rewrite(root: XmlElement): XmlElement {
    return { ...root, children: this.#children(root) };
  }

  #children(parent: XmlElement): XmlNode[] {
    return parent.children.flatMap((child) =>
      isElement(child) ? this.#rewritten(child, parent) : [child],
    );
  }

  #rewritten(node: XmlElement, parent: XmlElement): XmlNode[] {
    const { name } = node;
    if (name === "w:p") return [this.#paragraph(node)];
    if (name === "w:t") return [this.#text(node)];
    if (name === "w:fldChar") return this.#fieldMark(node);
    if (name === "w:cr") return [element("w:br")];
    if (name === "w:ptab") return [element("w:tab")];
    if (name === "w:ruby")
      return this.#children({ ...node, children: [childOf(node, "w:rubyBase") ?? node] });
    if (name === "mc:AlternateContent") return this.#children(alternativeOf(node));
    if (WRAPPER.test(name)) return this.#children(node);
    if (EQUATION.test(name)) return [inBlock(this.#run(equationText(node)), parent)];
    if (DRAWING.test(name)) return this.#drawing(node);
    if (OTHER_DOCUMENT.test(name)) {
      this.#leaveOut("document in it");
      return [];
    }
    return [REMOVED.test(name) ? node : { ...node, children: this.#children(node) }];
  }

  /** A paragraph, which has a style of the converter if it is a heading. */
  #paragraph(node: XmlElement): XmlElement {
    const children = this.#children(node);
    const properties = childOf(node, "w:pPr");
    const level = this.levels.of(properties);
    if (properties === undefined || level === undefined) return { ...node, children };
    const style = level === 0 ? [] : [element("w:pStyle", { "w:val": `Heading${level}` })];
    const others = properties.children.filter((child) => !isElement(child, "w:pStyle"));
    const own = { ...properties, children: [...style, ...others] };
    return { ...node, children: [own, ...children.filter((child) => !isElement(child, "w:pPr"))] };
  }

  #run(text: string): XmlElement {
    return element("w:r", {}, [this.#text(element("w:t", {}, [{ type: "text", value: text }]))]);
  }

  #text(node: XmlElement): XmlElement {
    const text = { ...node, children: [...node.children] };
    for (const { instruction, hasResult } of this.#fields) if (!hasResult) instruction.push(text);
    return text;
  }

  #fieldMark(node: XmlElement): XmlNode[] {
    const type = node.attributes["w:fldCharType"];
    const field = this.#fields.at(-1);
    if (type === "begin") this.#fields.push({ instruction: [], hasResult: false });
    else if (field !== undefined) {
      // Only now it is certain that the texts belong to an instruction.
      if (!field.hasResult) for (const { children } of field.instruction) children.length = 0;
      field.hasResult = true;
      if (type === "end") this.#fields.pop();
    }
    return [node];
  }

  /** The text boxes of a drawing. Pictures have no text. */
  #drawing(node: XmlElement): XmlNode[] {
    const boxes = boxesOf(node).map((box) => ({ ...box, children: this.#children(box) }));
    for (const kind of graphicsOf(node)) this.#leaveOut(kind);
    return boxes.length === 0 ? [] : [element("w:pict", {}, [element("v:textbox", {}, boxes)])];
  }

  #leaveOut(kind: string): void {
    this.leftOut.set(kind, (this.leftOut.get(kind) ?? 0) + 1);
  }
}

/** A run as it is where a text is expected, and as a paragraph where a paragraph is. */
function inBlock(run: XmlElement, parent: XmlElement): XmlElement {
  return BLOCKS.test(parent.name) ? element("w:p", {}, [run]) : run;
}

/** Of the forms in which a content is given, the newest one that can be read here. */
function alternativeOf(node: XmlElement): XmlElement {
  const choices = node.children.filter((child) => isElement(child, "mc:Choice"));
  const readable = choices.find((choice) => hasReadable(choice));
  return readable ?? childOf(node, "mc:Fallback") ?? choices[0] ?? node;
}

function hasReadable(node: XmlNode): boolean {
  return isElement(node) && (READABLE.test(node.name) || node.children.some(hasReadable));
}

/** The text boxes that are in no other one. */
function boxesOf(node: XmlElement): XmlElement[] {
  if (node.name === "w:txbxContent") return [node];
  const { children } = node.name === "mc:AlternateContent" ? alternativeOf(node) : node;
  return children.flatMap((child) => (isElement(child) ? boxesOf(child) : []));
}

/** The kinds of the graphics and objects whose text cannot be read here, outside of text boxes. */
function graphicsOf(node: XmlElement): string[] {
  if (node.name === "w:txbxContent") return [];
  if (node.name === "o:OLEObject") return ["object of another program"];
  const kind = GRAPHICS[node.attributes["uri"]?.split("/").at(-1) ?? ""];
  if (node.name === "a:graphicData" && kind !== undefined) return [kind];
  const { children } = node.name === "mc:AlternateContent" ? alternativeOf(node) : node;
  return children.flatMap((child) => (isElement(child) ? graphicsOf(child) : []));
}
