import pLimit from "p-limit";
import { client, messageOf } from "../base/service.ts";

/** Concurrent requests: enough to use the connection, and few enough to leave the service to other users. */
const AT_ONCE = 4;

/** A file of the user's disk with the path that it gets in the project. */
export interface Upload {
  readonly path: string;
  readonly file: File;
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

async function textOf(file: File): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const bytes = await file.arrayBuffer();
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Error("It is not text in UTF-8.");
  }
}

/** Writes a file into a working set. */
async function put(project: string, environment: string, { path, file }: Upload): Promise<void> {
  const type = /\.(?:md|markdown|mdx)$/i.test(path) ? "text/markdown" : "text/plain";
  // A large file may take long on a slow line.
  const options = { environment, type, timeoutMs: 0 } as const;
  await client.putFile(project, path, await textOf(file), options);
}

/**
 * Writes files into a working set, a few at a time.
 *
 * @param onStored called after each file, with the reason if it has failed
 */
export async function putAll(
  project: string,
  environment: string,
  files: readonly Upload[],
  onStored: (path: string, failure: string | undefined) => void,
): Promise<void> {
  const limit = pLimit(AT_ONCE);
  const store = async (upload: Upload) => {
    const failure = await put(project, environment, upload).then(() => undefined, messageOf);
    onStored(upload.path, failure);
  };
  await Promise.all(files.map((upload) => limit(store, upload)));
}
