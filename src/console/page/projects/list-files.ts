import { listAll, projectPath } from "../base/api.ts";
import type { FileSummary } from "./file-tree.ts";

/** Maximum files of the list. They are read in successive requests of a hundred files, which take a second or two. */
const FILES_MAX = 1_000;

/** The files of a place whose paths contain some words, at most a thousand. */
export async function listFiles(
  project: string,
  place: Readonly<Record<string, string>>,
  words: string,
  signal: AbortSignal,
): Promise<{ readonly found: readonly FileSummary[]; readonly all: boolean }> {
  const filter = words === "" ? undefined : JSON.stringify({ path: { $glob: `**${words}**` } });
  const query = { ...place, filter };
  const path = projectPath(project, "files");
  const found = await listAll<FileSummary>(path, { query, signal, most: FILES_MAX + 1 });
  return { found: found.slice(0, FILES_MAX), all: found.length <= FILES_MAX };
}
