import { textOf } from "./sources.ts";

export interface FunctionSpan {
  readonly name: string;
  readonly lines: number;
}

/** The same C++ with comments and literals blanked out, line by line. */
function blanked(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  return text
    .replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, blank)
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'/g, blank)
    .replace(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, blank);
}

/**
 * The functions of a C++ file with the lines from name to closing brace. A block is a function when
 * it follows a parameter list and everything around it is a namespace or a class.
 */
export function functionsOf(file: string): FunctionSpan[] {
  const text = blanked(textOf(file));
  const functions: FunctionSpan[] = [];
  const open: Array<{ kind: "scope" | "function" | "other"; name: string; start: number }> = [];
  let statement = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{") {
      const head = text.slice(statement, at);
      const inScopes = open.every(({ kind }) => kind === "scope");
      const start = statement + (head.length - head.trimStart().length);
      open.push({ ...kindOf(head, inScopes), start });
    } else if (char === "}") {
      const block = open.pop();
      if (block?.kind === "function") {
        const lines = text.slice(block.start, at).split("\n").length;
        functions.push({ name: `${file}: ${block.name}`, lines });
      }
    }
    if (char === "{" || char === "}" || char === ";") statement = at + 1;
  }
  return functions;
}

function kindOf(head: string, inScopes: boolean) {
  const isScope =
    /\b(namespace|class|struct|union|extern)\b/.test(head) && !/\)\s*(const)?$/.test(head);
  if (isScope) return { kind: "scope", name: "" } as const;
  const name = /([\w:~]+|operator\S+)\s*\(/.exec(head)?.[1];
  if (inScopes && name !== undefined) return { kind: "function", name } as const;
  return { kind: "other", name: "" } as const;
}
