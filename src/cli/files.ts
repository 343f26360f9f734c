import { Command } from "commander";
import { type ListedFile, listFiles, purgeFiles, removeFiles } from "../api/projects/contents.ts";
import { findWorkingSet } from "../api/scopes/working-set.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { documentPath } from "../shared/paths.ts";
import { CommandError, inWords } from "./command-error.ts";
import { confirm, yesOption } from "./confirm.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject, type Project } from "./find-project.ts";
import { noWaitOption, untilSearchable } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { type Column, jsonOption, notice, printList } from "./output.ts";

const COLUMNS: readonly Column<ListedFile>[] = [
  ["path", (file) => file.path],
  ["versions", (file) => String(file.versions)],
  ["chunks", (file) => String(file.chunks)],
  ["environments", (file) => file.environments.join(",") || "-"],
  ["releases", (file) => String(file.releases)],
];

export function filesCommand(io: Io): Command {
  return new Command("files")
    .description("List and remove files of projects.")
    .addCommand(listCommand(io))
    .addCommand(removeCommand(io));
}

interface ListOptions {
  readonly project: string;
  readonly environment?: string;
  readonly json?: boolean;
}

function listCommand(io: Io): Command {
  return new Command("list")
    .description("List the files of a project.")
    .requiredOption("--project <slug>", "the project")
    .option("--environment <name>", "only files of this working set")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera files list --project handbook")
    .action(async ({ project: slug, environment, json }: ListOptions) => {
      const files = await withDatabase(io, async (sql) => {
        const project = await findProject(sql, slug);
        if (environment !== undefined) await requireEnvironment(sql, project, environment);
        return await listFiles(sql, project.id, environment ?? null);
      });
      printList(io, files, COLUMNS, { json, empty: "there are no files" });
    });
}

interface RemoveOptions {
  readonly project: string;
  readonly environment: string;
  readonly purge?: boolean;
  readonly yes?: boolean;
  readonly wait: boolean;
}

function removeCommand(io: Io): Command {
  return new Command("remove")
    .description("Remove files from the working set of an environment.")
    .argument("<path...>", "paths of the files")
    .requiredOption("--project <slug>", "the project")
    .option("--environment <name>", "the environment", "production")
    .option("--purge", "delete all their versions, also from releases")
    .addOption(yesOption())
    .addOption(noWaitOption())
    .addHelpText(
      "after",
      `
Releases keep the files that they contain, unless --purge deletes them everywhere.

Examples:
  ./tessera files remove old.md drafts/a.md --project handbook
  ./tessera files remove secret.md --project handbook --purge`,
    )
    .action(async (paths: string[], options: RemoveOptions) => {
      await changeDatabase(io, (sql) => remove(io, sql, paths, options));
    });
}

async function remove(
  io: Io,
  sql: Sql,
  given: readonly string[],
  options: RemoveOptions,
): Promise<void> {
  const { environment, purge = false, yes, wait } = options;
  const paths = [...new Set(given.map(documentPath))];
  const project = await findProject(sql, options.project);
  if (!purge) await requireEnvironment(sql, project, environment);
  const files = await listFiles(sql, project.id, purge ? null : environment);
  const known = new Set(files.map(({ path }) => path));
  const place = purge ? project.slug : `${environment} of ${project.slug}`;
  const missing = paths.find((path) => !known.has(path));
  if (missing !== undefined) {
    throw new CommandError(`there is no file "${abbreviate(missing)}" in ${place}`);
  }
  const what = `${paths.length} of ${files.length} files`;
  const extent = purge ? ", with all versions and from all releases, for good" : "";
  await confirm(io, `Remove ${what} from ${place}${extent}?`, yes);
  if (purge) await purgeFiles(sql, project.id, paths);
  else await removeFiles(sql, project.id, environment, paths);
  notice(io, `removed ${what} from ${place}`);
  await untilSearchable(io, sql, [project.id], wait);
}

async function requireEnvironment(sql: Sql, project: Project, name: string): Promise<void> {
  await inWords(findWorkingSet(sql, project.id, name), {
    "environment-not-found": `${project.slug} has no environment "${abbreviate(name)}"`,
  });
}
