import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { Glob } from "bun";

export const ROOT = join(import.meta.dir, "..", "..");

/** Files of the repository that match the patterns, relative to its root, sorted. */
export function filesOf(...patterns: string[]): string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    for (const file of new Glob(pattern).scanSync({ cwd: ROOT, dot: true })) found.add(file);
  }
  const ours = [...found].filter(
    (file) => !/(^|\/)(node_modules|build|fixtures|\.cache|data)\//.test(file),
  );
  return ours.sort();
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** The text without comments, which all begin on their own lines here. */
export function codeOf(file: string): string {
  return textOf(file)
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, "")
    .replace(/^\s*\/\/.*$/gm, "");
}

export type Import = { readonly specifier: string; readonly target: string | undefined };

/**
 * What a TypeScript file imports or re-exports, types included. The target is the imported file of
 * this repository, or undefined for a package or a module of the runtime.
 */
export function importsOf(file: string): Import[] {
  const code = codeOf(file);
  const patterns = [
    /^\s*(?:import|export)\b[^;"']*?\bfrom\s*"([^"]+)"/gm,
    /^\s*import\s*"([^"]+)"/gm,
    /\bimport\(\s*"([^"]+)"\s*\)/g,
  ];
  const specifiers = patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].flatMap(([, specifier]) => specifier ?? []),
  );
  return specifiers.map((specifier) => ({ specifier, target: resolveFrom(file, specifier) }));
}

function resolveFrom(file: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(dirname(file), specifier) : undefined;
}
