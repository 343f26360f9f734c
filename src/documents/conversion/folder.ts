import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { documentPath } from "../../domain/paths.ts";
import { requireDocumentSize } from "../document.ts";
import { ImportError, RecordError } from "../errors.ts";
import { foreignReader } from "../foreign/foreign-reader.ts";
import type { DocumentText } from "../foreign/protocol.ts";
import type { Conversions } from "./conversions.ts";
import {
  type FormatOptions,
  isConverted,
  isWanted,
  optionFor,
  requireFileSize,
  storedSuffix,
  storedText,
} from "./formats.ts";

/** Entries that are not content: names that begin with a dot, packages, and the lock files of Word. */
export const SKIPPED = /^\.|^node_modules$|^~\$/;

/** A file of a folder. */
export interface FolderFile {
  /** Relative to the folder, with forward slashes. */
  readonly file: string;
  /** The path under which it is stored. */
  readonly path: string;
}

/** A file or a folder that is skipped although it may have been meant. */
export interface Rejected {
  readonly path: string;
  readonly reason: string;
}

export interface MarkdownFolder {
  /** In byte order of their names. */
  readonly files: readonly FolderFile[];
  readonly rejected: readonly Rejected[];
  /** Symbolic links, which are not followed: they may lead out of the folder or form a cycle. */
  readonly links: readonly string[];
  /** Numbers of other files, by their extension and the option for it. */
  readonly others: ReadonlyMap<string, number>;
}

/** Maximum links and extensions that a note names; for more, it has their number. */
const NAMED_MAX = 5;

const NAME = "has a name that is not valid UTF-8";
const SAME_NAME = "has the name of another file, with letters that are written in another way";

/**
 * Finds the Markdown files below a folder, and those of other formats on request. Names that begin with
 * a dot, `node_modules` and the lock files of Word are skipped; folders in it that cannot be read are rejected.
 * Throws an ImportError if the folder itself cannot be read.
 *
 * @param only the name of the only file to find
 */
export function findMarkdown(
  folder: string,
  formats: FormatOptions = {},
  only?: string,
): MarkdownFolder {
  const paths: string[] = [];
  const rejected: Rejected[] = [];
  const links: string[] = [];
  const others = new Map<string, number>();
  const visit = (relative: string) => {
    const entries = entriesOf(join(folder, relative));
    if (typeof entries === "string") {
      if (relative === "") throw new ImportError(`${folder} ${entries}`);
      rejected.push({ path: relative, reason: entries });
      return;
    }
    for (const entry of entries) {
      if (SKIPPED.test(entry.name)) continue;
      if (only !== undefined && entry.name !== only) continue;
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      const named = isWanted(entry.name, formats);
      if (entry.isSymbolicLink()) {
        if (named || pointsToFolder(join(folder, path))) links.push(path);
      } else if (entry.isDirectory() || named) {
        if (isInvalidName(folder, path)) rejected.push({ path, reason: NAME });
        else if (entry.isDirectory()) visit(path);
        else if (entry.isFile()) paths.push(path);
        else rejected.push({ path, reason: "is not a regular file" });
      } else if (entry.isFile()) {
        const option = optionFor(entry.name);
        const remedy = option === undefined ? "" : ` (--${option})`;
        const kind = `${extname(entry.name).toLowerCase() || "without extension"}${remedy}`;
        others.set(kind, (others.get(kind) ?? 0) + 1);
      }
    }
  };
  visit("");
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const named = storedNames(paths);
  return { files: named.files, rejected: [...rejected, ...named.rejected], links, others };
}

/** Gives each file a path of its own. Those that keep their names come first. */
function storedNames(names: readonly string[]): Pick<MarkdownFolder, "files" | "rejected"> {
  const rejected: Rejected[] = [];
  const taken = new Map<string, string>();
  for (const file of names) {
    const path = documentPath(file);
    if (storedSuffix(file) !== "") continue;
    if (taken.has(path)) rejected.push({ path: file, reason: SAME_NAME });
    else taken.set(path, file);
  }
  for (const file of names) {
    const suffix = storedSuffix(file);
    if (suffix === "") continue;
    let path = documentPath(file + suffix);
    while (taken.has(path)) path += suffix;
    taken.set(path, file);
  }
  const pathOf = new Map([...taken].map(([path, file]) => [file, path]));
  const files = names.flatMap((file) => {
    const path = pathOf.get(file);
    return path === undefined ? [] : [{ file, path }];
  });
  return { files, rejected };
}

/** Notes about the other entries of a folder, in a sentence each. */
export function skippedIn({ links, others }: Pick<MarkdownFolder, "links" | "others">): string[] {
  const notes: string[] = [];
  if (links.length > 0) notes.push(`symbolic links are not followed: ${named(links)}`);
  if (others.size > 0) {
    const sorted = [...others].sort(([, a], [, b]) => b - a);
    const counts = sorted.map(([extension, count]) => `${count} ${extension}`);
    notes.push(`other files are left out: ${named(counts)}`);
  }
  return notes;
}

function named(all: readonly string[]): string {
  const left = all.length - NAMED_MAX;
  return `${all.slice(0, NAMED_MAX).join(", ")}${left > 0 ? `, and ${left} more` : ""}`;
}

function pointsToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory();
  } catch {
    // The target does not exist, or the link points to itself.
    return false;
  }
}

/** In a name that is not valid UTF-8, bytes were replaced, so no file exists under that name. */
function isInvalidName(folder: string, path: string): boolean {
  return path.includes("\ufffd") && !existsSync(join(folder, path));
}

/** The entries of a folder, or the reason why they cannot be read. */
function entriesOf(folder: string): Dirent[] | string {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? "no such folder" : code === "ENOTDIR" ? "not a folder" : String(code);
    return `cannot be read: ${reason}`;
  }
}

/** Stored paths of files that a folder has and that were not read, and the prefixes of others that it may have. */
export function unreadIn({ links = [], rejected = [] }: Partial<MarkdownFolder>) {
  const names = [...links, ...rejected.map(({ path }) => path)];
  return {
    paths: names.map((name) => documentPath(name + storedSuffix(name))),
    below: names.map((name) => `${documentPath(name)}/`),
  };
}

/** The text of a file as it is stored. Throws a RecordError if it cannot be read or is too large. */
export async function readText(
  folder: string,
  path: string,
  conversions?: Conversions,
): Promise<DocumentText> {
  if (!isConverted(path)) return await readHere(folder, path);
  const convert = () => foreignReader.read({ kind: "document", folder: resolve(folder), path });
  const document = await (conversions?.of(join(folder, path), convert) ?? convert());
  requireDocumentSize(Buffer.byteLength(document.text));
  return document;
}

/** The text of a file like `readText`, in this process whatever its format. */
export async function readHere(folder: string, path: string): Promise<DocumentText> {
  return await storedText(path, readBytes(folder, path));
}

function readBytes(folder: string, path: string): Uint8Array {
  try {
    const file = join(folder, path);
    requireFileSize(path, statSync(file).size);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof RecordError) throw error;
    throw new RecordError(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
