import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { MARKDOWN_FILE_MAX_BYTES } from "../../limits.ts";
import { CommandError } from "../command-error.ts";
import { LineError } from "../import/line-error.ts";

const MARKDOWN = /\.mdx?$/i;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

export interface MarkdownFolder {
  /** Relative to the folder, with forward slashes, in byte order. */
  readonly paths: string[];
  /** Links, which are not followed: they may lead out of the folder or in circles. */
  readonly links: string[];
}

/** Finds the Markdown files of a folder. What begins with a dot, and node_modules, is left out. */
export function findMarkdown(folder: string): MarkdownFolder {
  const paths: string[] = [];
  const links: string[] = [];
  const visit = (relative: string) => {
    for (const entry of entriesOf(join(folder, relative), folder)) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else if (!MARKDOWN.test(entry.name)) continue;
      else if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isFile()) paths.push(path);
    }
  };
  visit("");
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { paths, links };
}

function entriesOf(folder: string, root: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? "no such folder" : code === "ENOTDIR" ? "not a folder" : String(code);
    const advice = folder === join(root, "") || folder === root ? "" : " (below it)";
    throw new CommandError(`${folder}${advice} cannot be read: ${reason}`);
  }
}

/** Reads one file as text. Throws a LineError when it is none, or too large. */
export function readMarkdown(folder: string, path: string): string {
  let bytes: Uint8Array;
  try {
    const file = join(folder, path);
    if (statSync(file).size > MARKDOWN_FILE_MAX_BYTES) {
      throw new LineError(`is larger than ${MARKDOWN_FILE_MAX_BYTES} bytes`);
    }
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof LineError) throw error;
    throw new LineError(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (bytes.includes(0)) throw new LineError("is not text: it contains NUL bytes");
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new LineError("is not valid UTF-8");
  }
}
