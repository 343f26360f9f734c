import { existsSync, readFileSync } from "node:fs";
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

/**
 * Files that a file names in a string, for example to start a worker, relative to its own folder or
 * to the root of the repository.
 */
export function filesNamedIn(file: string): string[] {
  const named = [...codeOf(file).matchAll(/["'`]([^"'`\n]*\.tsx?)["'`]/g)];
  return named.flatMap(([, name = ""]) => {
    const candidates = [posix.join(dirname(file), name), posix.normalize(name)];
    return candidates.filter((candidate) => isFile(candidate));
  });
}

function resolveFrom(file: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(dirname(file), specifier) : undefined;
}

function isFile(file: string): boolean {
  return !file.startsWith("..") && existsSync(join(ROOT, file));
}

/** A cycle of the graph as a list of its nodes, or undefined if there is none. */
export function findCycle(graph: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | undefined => {
    const position = path.indexOf(node);
    if (position >= 0) return [...path.slice(position), node];
    if (done.has(node)) return undefined;
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle) return cycle;
  }
  return undefined;
}

/** All nodes that can be reached from the starting ones, including these. */
export function reachable(
  starts: readonly string[],
  edges: (node: string) => readonly string[],
): Set<string> {
  const seen = new Set<string>(starts);
  const queue = [...starts];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const next of edges(node)) {
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  return seen;
}
