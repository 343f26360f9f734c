import { childOf, isElement, valueIn, type XmlElement, type XmlNode } from "./docx-xml.ts";

/** A part of an equation that needs no parentheses. */
const SIMPLE = /^(?:[\p{L}\p{M}\p{N}.,]+|\([^()]*\)|.)$/su;
const HAT = "\u0302";

/** An equation on one line, as people type it: `x=(-b±√(b^2-4ac))/(2a)`. */
export function equationText(node: XmlNode): string {
  if (!isElement(node)) return "";
  const { name } = node;
  if (name === "m:t" || name === "w:t")
    return node.children.map((each) => (each.type === "text" ? each.value : "")).join("");
  // Properties of the element above.
  if (name.endsWith("Pr")) return "";
  return (FORMS[name] ?? partsOf)(node);
}

const partsOf = ({ children }: XmlElement) => children.map(equationText).join("");

const grouped = (text: string) => (text === "" || SIMPLE.test(text) ? text : `(${text})`);

function part(parent: XmlElement, name: string): string {
  const child = childOf(parent, name);
  return child === undefined ? "" : equationText(child);
}

function parts(parent: XmlElement, name: string): string[] {
  return parent.children.filter((child) => isElement(child, name)).map(equationText);
}

/** The texts below and above the end of an element. */
function scripts(parent: XmlElement): string {
  const [below, above] = [part(parent, "m:sub"), part(parent, "m:sup")].map(grouped);
  return (below ? `_${below}` : "") + (above ? `^${above}` : "");
}

const withScripts = (parent: XmlElement) => grouped(part(parent, "m:e")) + scripts(parent);

const FORMS: Readonly<Record<string, (parent: XmlElement) => string>> = {
  "m:f": (parent) => {
    const [above, below] = [part(parent, "m:num"), part(parent, "m:den")].map(grouped);
    const isStack = valueIn(childOf(parent, "m:fPr"), "m:type") === "noBar";
    return `${above}${isStack ? " ¦ " : "/"}${below}`;
  },
  "m:sSup": withScripts,
  "m:sSub": withScripts,
  "m:sSubSup": withScripts,
  "m:sPre": (parent) => `${scripts(parent)} ${part(parent, "m:e")}`,
  "m:rad": (parent) => `${part(parent, "m:deg")}√${grouped(part(parent, "m:e"))}`,
  "m:nary": (parent) => {
    const sign = valueIn(childOf(parent, "m:naryPr"), "m:chr") ?? "∫";
    return `${sign}${scripts(parent)} ${part(parent, "m:e")}`;
  },
  "m:d": (parent) => {
    const properties = childOf(parent, "m:dPr");
    const [begin = "(", separator = "|", end = ")"] = ["m:begChr", "m:sepChr", "m:endChr"].map(
      (name) => valueIn(properties, name),
    );
    return begin + parts(parent, "m:e").join(separator) + end;
  },
  "m:m": (parent) => parts(parent, "m:mr").join("; "),
  "m:mr": (parent) => parts(parent, "m:e").join(" "),
  "m:eqArr": (parent) => parts(parent, "m:e").join("; "),
  "m:func": (parent) => {
    const argument = part(parent, "m:e");
    return part(parent, "m:fName") + (argument.startsWith("(") ? argument : ` ${argument}`);
  },
  "m:limLow": (parent) => `${part(parent, "m:e")}_${grouped(part(parent, "m:lim"))}`,
  "m:limUpp": (parent) => `${part(parent, "m:e")}^${grouped(part(parent, "m:lim"))}`,
  "m:acc": (parent) => part(parent, "m:e") + (valueIn(childOf(parent, "m:accPr"), "m:chr") ?? HAT),
};
