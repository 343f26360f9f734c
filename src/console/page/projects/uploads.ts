import { useState } from "preact/hooks";
import { call, projectPath } from "../base/api.ts";

/** Concurrent requests: enough to use the connection, and few enough to leave the service to other users. */
const AT_ONCE = 4;

/** A file of the user's disk with the path that it gets in the project. */
export interface Upload {
  readonly path: string;
  readonly file: File;
}

export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly path: string; readonly reason: string }[];
}

/** The files below a dropped entry, with their paths from there. */
async function entryFiles(entry: FileSystemEntry, parent: string): Promise<Upload[]> {
  const path = `${parent}${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    return [{ path, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: Upload[] = [];
  // A reader returns its entries in parts. The last part is empty.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (part.length === 0) return found;
    for (const each of part) found.push(...(await entryFiles(each, `${path}/`)));
  }
}

/** The dropped files, and all files in dropped folders. */
export async function droppedFiles(data: DataTransfer): Promise<Upload[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry());
  if (entries.every((entry) => entry === null)) return chosenFiles(data.files);
  const found = entries.map((entry) => (entry === null ? [] : entryFiles(entry, "")));
  return (await Promise.all(found)).flat();
}

export const chosenFiles = (files: Iterable<File>): Upload[] =>
  [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function store(project: string, environment: string, { path, file }: Upload): Promise<void> {
  const type = /\.(?:md|markdown|mdx)$/i.test(path) ? "text/markdown" : "text/plain";
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let body: string;
  try {
    body = decoder.decode(await file.arrayBuffer());
  } catch {
    throw new Error("It is not text in UTF-8.");
  }
  const text = { type, body };
  await call(projectPath(project, "files", path), { method: "PUT", query: { environment }, text });
}

/** Writes files into a working set, a few at a time. Failures are listed, and the other files continue. */
export function useUploads(project: string, environment: string, onDone: () => void) {
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const add = (change: (before: Progress) => Progress) =>
    setProgress((before) => before && change(before));
  const upload = async (files: readonly Upload[]) => {
    if (files.length === 0) return;
    setProgress({ total: files.length, done: 0, failures: [] });
    const queue = [...files];
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { path } = next;
        try {
          await store(project, environment, next);
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          add((before) => ({ ...before, failures: [...before.failures, { path, reason }] }));
        }
        add((before) => ({ ...before, done: before.done + 1 }));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    onDone();
  };
  return { progress, upload, dismiss: () => setProgress(undefined) };
}
