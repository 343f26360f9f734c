import { codeOf, importsOf } from "./sources.ts";

/** Names that a TypeScript file exports, types included. */
export function exportedNames(file: string): string[] {
  const code = codeOf(file);
  const declared = [
    ...code.matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|class|interface|type|enum|function\*?) (\w+)/gm,
    ),
  ].map(([, name = ""]) => name);
  const destructured = [...code.matchAll(/^export const [{[]([^}\]]*)[}\]] =/gm)];
  const listed = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  const names = [...destructured, ...listed].flatMap(([, list = ""]) => namesIn(list, "last"));
  return [...declared, ...names];
}

/** Names that a file imports or re-exports, by the file they come from. `*` stands for all. */
export function usedNames(file: string): Array<{ target: string; names: string[] }> {
  const code = codeOf(file);
  const targets = new Map(importsOf(file).map(({ specifier, target }) => [specifier, target]));
  const uses: Array<{ target: string; names: string[] }> = [];
  const add = (specifier: string, names: string[]) => {
    const target = targets.get(specifier);
    if (target !== undefined) uses.push({ target, names });
  };
  const lists = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*"([^"]+)"/gm;
  for (const [, list = "", specifier = ""] of code.matchAll(lists)) {
    add(specifier, namesIn(list, "first"));
  }
  const wholes = [/^export (?:type )?\* from "([^"]+)"/gm, /\bimport\(\s*"([^"]+)"\s*\)/g];
  for (const pattern of wholes) {
    for (const [, specifier = ""] of code.matchAll(pattern)) add(specifier, ["*"]);
  }
  for (const [, name, specifier = ""] of code.matchAll(/^import \* as (\w+) from "([^"]+)"/gm)) {
    const members = [...code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))];
    add(
      specifier,
      members.map(([, member = ""]) => member),
    );
  }
  return uses;
}

/** The names of `a, type b, c as d`: `first` gives c, `last` gives d. */
function namesIn(list: string, side: "first" | "last"): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim().replace(/^type\s+/, ""))
    .filter((entry) => entry !== "" && !entry.startsWith("..."))
    .map((entry) => entry.split(/\s+as\s+|:\s*/).at(side === "first" ? 0 : -1) ?? "");
}
