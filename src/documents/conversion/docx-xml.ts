import { createRequire } from "node:module";

export interface XmlElement {
  readonly type: "element";
  /** With the prefix of its namespace in `NAMESPACES`; with the namespace in braces if it has another one. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlNode[];
}

export type XmlNode = XmlElement | { readonly type: "text"; readonly value: string };

const OFFICE = "http://schemas.openxmlformats.org";
const STRICT = "http://purl.oclc.org/ooxml";
const NAMESPACES: Readonly<Record<string, string>> = {
  [`${STRICT}/wordprocessingml/main`]: "w",
  [`${STRICT}/officeDocument/math`]: "m",
  [`${STRICT}/officeDocument/relationships`]: "r",
  [`${STRICT}/drawingml/main`]: "a",
  // The last one of a prefix is written.
  [`${OFFICE}/wordprocessingml/2006/main`]: "w",
  [`${OFFICE}/officeDocument/2006/math`]: "m",
  [`${OFFICE}/officeDocument/2006/relationships`]: "r",
  [`${OFFICE}/drawingml/2006/main`]: "a",
  [`${OFFICE}/markup-compatibility/2006`]: "mc",
  "urn:schemas-microsoft-com:vml": "v",
  "urn:schemas-microsoft-com:office:office": "o",
  "http://schemas.microsoft.com/office/word/2010/wordml": "w14",
};
const DECLARATIONS = Object.entries(
  Object.fromEntries(Object.entries(NAMESPACES).map(([uri, prefix]) => [prefix, uri])),
)
  .map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`)
  .join("");

/** The parser of the converter. The package declares no types of its modules. */
const parser = createRequire(import.meta.url)("mammoth/lib/xml/index.js") as {
  readString(xml: string, namespaces: typeof NAMESPACES): Promise<XmlElement>;
};

/** Throws an error if the text is not XML. */
export async function parseXml(xml: string): Promise<XmlElement> {
  return await parser.readString(xml.replace(/^\ufeff/, ""), NAMESPACES);
}

export function element(
  name: string,
  attributes: XmlElement["attributes"] = {},
  children: XmlNode[] = [],
): XmlElement {
  return { type: "element", name, attributes, children };
}

export function isElement(node: XmlNode | undefined, name?: string): node is XmlElement {
  return node?.type === "element" && (name === undefined || node.name === name);
}

export function childOf(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.find((child): child is XmlElement => isElement(child, name));
}

/** The attribute `val` of a child. */
export function valueIn(parent: XmlElement | undefined, name: string): string | undefined {
  const [prefix] = name.split(":");
  return childOf(parent, name)?.attributes[`${prefix}:val`];
}

export function xmlOf(root: XmlElement): string {
  return written(root, DECLARATIONS);
}

function written(node: XmlNode, declarations = ""): string {
  if (node.type === "text") return Bun.escapeHTML(node.value);
  const { name, attributes, children } = node;
  const [, uri, local] = /^\{(.*)\}(.*)$/.exec(name) ?? [];
  const tag = local ?? name;
  const own = uri === undefined ? "" : ` xmlns="${Bun.escapeHTML(uri)}"`;
  const known = Object.entries(attributes).filter(([key]) => !key.startsWith("{"));
  const values = known.map(([key, value]) => ` ${key}="${Bun.escapeHTML(value)}"`).join("");
  const content = children.map((child) => written(child)).join("");
  return `<${tag}${declarations}${own}${values}>${content}</${tag}>`;
}
