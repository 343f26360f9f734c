import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../../cli/command-error.ts";
import { MARKDOWN_FILE_MAX_BYTES } from "../../shared/limits.ts";
import { LineError } from "../records/line-error.ts";

const MARKDOWN = /\.mdx?$/i;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

export interface MarkdownFolder {
  /** Relative to the folder, with forward slashes, in byte order. */
  readonly paths: string[];
  /** What is left out though it may have been meant, with the reason. */
  readonly refused: ReadonlyArray<{ readonly path: string; readonly reason: string }>;
}

/** Links may lead out of the folder or in circles. */
const LINK = "is a symbolic link, which is not followed";
const NAME = "has a name that is not valid UTF-8";

/** Finds the Markdown files of a folder. What begins with a dot, and node_modules, is left out. */
export function findMarkdown(folder: string): MarkdownFolder {
  const paths: string[] = [];
  const refused: Array<{ path: string; reason: string }> = [];
  const visit = (relative: string) => {
    for (const entry of entriesOf(join(folder, relative), folder)) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      const named = MARKDOWN.test(entry.name);
      if (entry.isSymbolicLink()) {
        if (named || leadsToFolder(join(folder, path))) refused.push({ path, reason: LINK });
      } else if (entry.isDirectory() || named) {
        if (isMisnamed(folder, path)) refused.push({ path, reason: NAME });
        else if (entry.isDirectory()) visit(path);
        else if (entry.isFile()) paths.push(path);
        else refused.push({ path, reason: "is no regular file" });
      }
    }
  };
  visit("");
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { paths, refused };
}

function leadsToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory();
  } catch {
    // It leads nowhere, or to itself.
    return false;
  }
}

/** Bytes that are no UTF-8 were replaced when the name was read, so nothing is found under it. */
function isMisnamed(folder: string, path: string): boolean {
  return path.includes("\ufffd") && !existsSync(join(folder, path));
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
