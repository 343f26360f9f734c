import { Command } from "commander";
import { readIndexState } from "../api/projects/index-state.ts";
import { listAllProjects } from "../api/projects/manage.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../indexing/changes/change-log.ts";
import { isComplete, readIndexReports, shortId } from "../indexing/changes/index-state.ts";
import { untilShown } from "../indexing/changes/visibility.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findProject, type Project } from "./find-project.ts";
import { progressOf, waitUntilComplete } from "./index-wait.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { duration } from "./options.ts";
import { print } from "./output.ts";
import { formatTable } from "./table.ts";
import { WaitNotice } from "./wait-notice.ts";

interface StatusOptions {
  readonly project?: string;
  readonly wait?: boolean;
  readonly timeout: number;
}

function requireProject({ wait, project }: StatusOptions): void {
  if (wait === true && project === undefined) {
    throw new CommandError("--wait needs --project <slug>: `./tessera projects list` lists them");
  }
}

export function indexCommand(io: Io): Command {
  const status = new Command("status")
    .description("Show the indexes of the running servers and their progress.")
    .option("--project <slug>", "show only the indexes of this project")
    .option("--wait", "wait until the indexes of the project are complete")
    .addOption(duration("--timeout <duration>", "how long to wait, such as 90s or 30m", "10m"))
    .addHelpText(
      "after",
      `
Prints one row per server, project and dimension, and one for the text of each project, with its
number of documents. "pending" is the number of change log entries
that the server has not processed yet. "complete" means that there are none, and that the graph is
built and calibrated. "recall" is the share of the true best results that recent
searches found, measured on a sample of them ("samples"); "-" before the first one. Servers report every few seconds, and only the projects that
they have loaded.

Examples:
  ./tessera index status
  ./tessera index status --project handbook --wait --timeout 30m`,
    )
    .action(async (options: StatusOptions) => {
      requireProject(options);
      const text = await withDatabase(io, async (sql) => {
        const { project, wait, timeout } = options;
        if (wait === true) {
          await interruptible(
            () => "the service goes on",
            () => waitUntilComplete(io, sql, project as string, timeout),
          );
        }
        const found = project === undefined ? undefined : await findProject(sql, project);
        return await statusText(sql, found?.id);
      });
      print(io, text);
    });
  const rebuild = new Command("rebuild")
    .description("Rebuild the indexes from the database.")
    .option("--project <slug>", "rebuild only the indexes of this project")
    .addHelpText(
      "after",
      `
Waits for the running servers that have loaded the projects. Any other server rebuilds the indexes
when it next loads the project.

Examples:
  ./tessera index rebuild
  ./tessera index rebuild --project handbook`,
    )
    .action(async ({ project }: { project?: string }) => {
      await withDatabase(io, (sql) =>
        interruptible(
          () => "the servers go on with what was asked of them",
          () => rebuildIndexes(io, sql, project),
        ),
      );
    });
  return new Command("index")
    .description("Manage the search indexes.")
    .addCommand(status)
    .addCommand(rebuild);
}

async function statusText(sql: Sql, projectId: string | undefined): Promise<string> {
  const { seq, at } = await new ChangeLog(sql).newest();
  const rows = await readIndexReports(sql, projectId);
  const since = at === "" ? "" : `, ${new Date(at).toISOString()}`;
  const change = `change log: at ${seq}${since}\n`;
  if (rows.length === 0) return `${change}no running server reports an index\n`;
  const header =
    "node project dimension vectors graphed documents memory seq pending complete recall samples seen".split(
      " ",
    );
  const table = rows.map((row) => [
    shortId(row.server),
    row.project,
    ...(row.dimension === 0
      ? ["text", "-", "-", `${row.documents}`]
      : [`${row.dimension}`, `${row.vectors}`, `${row.graphed}`, "-"]),
    row.memory,
    `${row.seq}`,
    `${row.pending}`,
    isComplete(row) ? "yes" : "no",
    row.recall?.toFixed(4) ?? "-",
    String(row.samples ?? "-"),
    `${row.ageSeconds} s ago${row.fresh ? "" : " (stopped?)"}`,
  ]);
  return change + formatTable(header, table);
}

async function rebuildIndexes(io: Io, sql: Sql, slug: string | undefined): Promise<void> {
  const projects = slug === undefined ? await listAllProjects(sql) : [await findProject(sql, slug)];
  if (projects.length === 0) {
    print(io, "there are no projects, so there is nothing to rebuild\n");
    return;
  }
  for (const project of projects) {
    await untilRebuilt(io, sql, project);
    const reports = await readIndexReports(sql, project.id);
    const { size } = new Set(reports.filter(({ fresh }) => fresh).map(({ server }) => server));
    const outcome =
      size === 0
        ? "no running server has loaded it; it is rebuilt when a server next loads it"
        : `rebuilt by ${size} running ${size === 1 ? "server" : "servers"}`;
    print(io, `${project.slug}: ${outcome}\n`);
  }
}

/** Asks for a rebuild, and waits until every running server that has loaded the project has made it. */
async function untilRebuilt(io: Io, sql: Sql, { id, slug }: Project): Promise<void> {
  const position = await new ChangeLog(sql).requestRebuild(id);
  const wait = new WaitNotice(io.stderr);
  const onWait = async () => wait.show(`${slug}: ${progressOf(await readIndexState(sql, id))}`);
  await untilShown(sql, { projects: [id], position, onWait }).finally(() => wait.stop());
}
