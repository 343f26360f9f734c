/** The parts of an element that are read here. */
export interface CodeNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<CodeNode>;
  readonly className?: string;
  readonly textContent?: string | null;
}

const TEXT_NODE = 3;
/** Elements that highlighters put around a line of code. */
const LINE = /^(?:DIV|P|LI|TR|OL|UL|TABLE)$/;
/** Classes of the line numbers of highlighters. */
const LINE_NUMBERS =
  /(?:^|\s)(?:linenos?|lineno|lnt?|lntd|(?:rouge-)?gutter|line-numbers?|hljs-ln-numbers|blob-num)(?:\s|$)/;
const LANGUAGE = /(?:^|\s)lang(?:uage)?-([\w+#-]{1,32})(?:\s|$)/;

/** A block of code in Markdown. Line breaks and elements that a browser shows on lines of their own end a line. */
export function codeBlock(block: CodeNode): string {
  const code = textOf(block).replace(/\n$/, "");
  if (isLineNumbers(block) || code.trim() === "") return "";
  const runs = code.match(/`+/g) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), 0);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `\n\n${fence}${languageOf(block)}\n${code}\n${fence}\n\n`;
}

/** Whether an element has nothing but numbers of lines. */
export function isLineNumbers({ className = "", textContent }: CodeNode): boolean {
  return LINE_NUMBERS.test(className) && /^[\d\s]*$/.test(textContent ?? "");
}

/** Walks without recursion, because elements may be nested as deep as the parser allows. */
function textOf(block: CodeNode): string {
  let text = "";
  const endLine = () => {
    if (text !== "" && !text.endsWith("\n")) text += "\n";
  };
  const open: (CodeNode | "end of a line")[] = [block];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === "end of a line") endLine();
    else if (next.nodeType === TEXT_NODE) text += next.nodeValue ?? "";
    else if (next.nodeName === "BR") text += "\n";
    else if (!isLineNumbers(next)) {
      if (LINE.test(next.nodeName)) {
        endLine();
        open.push("end of a line");
      }
      for (let i = next.childNodes.length - 1; i >= 0; i--)
        open.push(next.childNodes[i] as CodeNode);
    }
  }
  return text;
}

/** The language that the class of the block or of its only element names; "" without one. */
function languageOf(block: CodeNode): string {
  const named = [block, ...Array.from(block.childNodes)].map(({ className }) => className ?? "");
  return named.map((names) => LANGUAGE.exec(names)?.[1] ?? "").find(Boolean) ?? "";
}
