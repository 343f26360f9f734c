import type { Schemas } from "../base/api.ts";

export type FileSummary = Schemas["FileSummary"];

/** A folder of paths that share their beginning; the root has an empty name. */
export interface Folder {
  readonly name: string;
  readonly path: string;
  readonly folders: readonly Folder[];
  readonly files: readonly FileSummary[];
  /** Files in the folder and its subfolders. */
  readonly count: number;
}

/** The files as a tree by the segments of their paths. Folders precede files; both keep their order. */
export function treeOf(files: readonly FileSummary[], path = ""): Folder {
  const own: FileSummary[] = [];
  const below = new Map<string, FileSummary[]>();
  for (const file of files) {
    const slash = file.path.indexOf("/", path.length);
    if (slash < 0) {
      own.push(file);
      continue;
    }
    const folder = file.path.slice(0, slash + 1);
    const members = below.get(folder);
    if (members === undefined) below.set(folder, [file]);
    else members.push(file);
  }
  return {
    name: path.slice(0, -1).split("/").at(-1) ?? "",
    path,
    folders: [...below].map(([folder, members]) => treeOf(members, folder)),
    files: own,
    count: files.length,
  };
}
