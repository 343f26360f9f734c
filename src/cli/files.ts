import type { Command } from "commander";
import { type ListedFile, listFiles, purgeFiles } from "../content/projects/contents.ts";
import { findWorkingSet } from "../content/scopes/working-set.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../domain/abbreviate.ts";
import { documentPath } from "../domain/paths.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { confirm } from "./confirm.ts";
import type { Project } from "./database.ts";
import { untilSearchable } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { changeProject, inWords, withProject } from "./operations.ts";
import { type Column, notice, printList } from "./output.ts";

const COLUMNS: readonly Column<ListedFile>[] = [
  ["path", (file) => file.path],
  ["versions", (file) => String(file.versions)],
  ["chunks", (file) => String(file.chunks)],
  ["environments", (file) => file.environments.join(",") || "-"],
  ["releases", (file) => String(file.releases)],
];

export function filesCommand(io: Io): Command {
  const list = newCommand("files list", "project", "json")
    .option("--environment <name>", "only files of this working set")
    .action(async ({ project, environment, json }: Flags & { readonly environment?: string }) => {
      const files = await withProject(io, project, async ({ sql, ...found }) => {
        if (environment !== undefined) await requireEnvironment(sql, found, environment);
        return await listFiles(sql, found.id, environment ?? null);
      });
      printList(io, files, COLUMNS, { json, empty: "there are no files" });
    });
  const remove = newCommand("files remove", "project", "environment", "yes", "wait")
    .argument("<path...>", "paths of the files")
    .option("--purge", "delete all their versions, also from releases")
    .action((paths: string[], options: RemoveOptions) => removeFiles(io, paths, options));
  return newGroup("files", "List and remove files of projects.", [list, remove]);
}

type RemoveOptions = Flags & { readonly purge?: boolean };

async function removeFiles(
  io: Io,
  given: readonly string[],
  { project, environment, purge = false, yes, wait }: RemoveOptions,
): Promise<void> {
  const paths = [...new Set(given.map(documentPath))];
  await changeProject(io, project, async ({ sql, id, slug, call }) => {
    if (!purge) await requireEnvironment(sql, { id, slug }, environment);
    const files = await listFiles(sql, id, purge ? null : environment);
    const known = new Set(files.map(({ path }) => path));
    const place = purge ? slug : `${environment} of ${slug}`;
    const missing = paths.find((path) => !known.has(path));
    if (missing !== undefined) {
      throw new CommandError(`there is no file "${abbreviate(missing)}" in ${place}`);
    }
    const number = `${paths.length} of ${files.length} files`;
    const extent = purge ? ", with all versions and from all releases, for good" : "";
    await confirm(io, `Remove ${number} from ${place}${extent}?`, yes);
    if (purge) await purgeFiles(sql, id, paths);
    else {
      for (const path of paths) {
        await call("deleteFile", { params: { file_reference: path }, query: { environment } });
      }
    }
    notice(io, `removed ${number} from ${place}`);
    await untilSearchable(io, sql, [id], wait);
  });
}

async function requireEnvironment(sql: Sql, { id, slug }: Project, name: string): Promise<void> {
  await inWords(findWorkingSet(sql, id, name), {
    "environment-not-found": `${slug} has no environment "${abbreviate(name)}"`,
  });
}
