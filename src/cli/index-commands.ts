import type { Command } from "commander";
import { type IndexState, readIndexState } from "../content/projects/index-state.ts";
import { listAllProjects } from "../content/projects/manage.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../index/changes/change-log.ts";
import { isComplete, readIndexReports, shortId } from "../index/changes/index-state.ts";
import { untilReported, untilShown } from "../index/changes/visibility.ts";
import { newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findProject, type Project, withDatabase } from "./database.ts";
import { missingIn, progressOf } from "./index-wait.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { type OpenProject, withProject } from "./operations.ts";
import { duration } from "./options.ts";
import { type Column, print, tableOf } from "./output.ts";
import { waiting } from "./progress.ts";

/** Interval between two looks at an index that a command waits for. */
const INDEX_WAIT_POLL_MS = 500;

type Report = Awaited<ReturnType<typeof readIndexReports>>[number];

const ofVectors = (cell: (report: Report) => string) => (report: Report) =>
  report.dimension === 0 ? "-" : cell(report);

const COLUMNS: readonly Column<Report>[] = [
  ["node", ({ server }) => shortId(server)],
  ["project", ({ project }) => project],
  ["dimension", ({ dimension }) => (dimension === 0 ? "text" : String(dimension))],
  ["vectors", ofVectors(({ vectors }) => String(vectors))],
  ["graphed", ofVectors(({ graphed }) => String(graphed))],
  ["documents", ({ dimension, documents }) => (dimension === 0 ? String(documents) : "-")],
  ["memory", ({ memory }) => memory],
  ["seq", ({ seq }) => String(seq)],
  ["pending", ({ pending }) => String(pending)],
  ["complete", (report) => (isComplete(report) ? "yes" : "no")],
  ["recall", ({ recall }) => recall?.toFixed(4) ?? "-"],
  ["samples", ({ samples }) => String(samples ?? "-")],
  ["seen", ({ ageSeconds, fresh }) => `${ageSeconds} s ago${fresh ? "" : " (stopped?)"}`],
];

interface StatusOptions {
  readonly project?: string;
  readonly wait?: boolean;
  readonly timeout: number;
}

export function indexCommand(io: Io): Command {
  const status = newCommand("index status")
    .option("--project <slug>", "show only the indexes of this project")
    .option("--wait", "wait until the indexes of the project are complete")
    .addOption(duration("--timeout <duration>", "how long to wait, such as 90s or 30m", "10m"))
    .action(async (options: StatusOptions) => print(io, await statusOf(io, options)));
  const rebuild = newCommand("index rebuild")
    .option("--project <slug>", "rebuild only the indexes of this project")
    .action(async ({ project }: { readonly project?: string }) => {
      const keeps = () => "the servers go on with the requested work";
      await withDatabase(io, (sql) => interruptible(keeps, () => rebuildIndexes(io, sql, project)));
    });
  return newGroup("index", "Manage the search indexes.", [status, rebuild]);
}

async function statusOf(io: Io, { project, wait, timeout }: StatusOptions): Promise<string> {
  if (project === undefined) {
    if (!wait) return await withDatabase(io, (sql) => statusText(sql));
    throw new CommandError("--wait needs --project <slug>: `./tessera projects list` lists them");
  }
  return await withProject(io, project, async (found) => {
    const keeps = () => "the service goes on";
    if (wait) await interruptible(keeps, () => untilComplete(io, found, timeout));
    return await statusText(found.sql, found.id);
  });
}

async function statusText(sql: Sql, projectId?: string): Promise<string> {
  const { seq, at } = await new ChangeLog(sql).newest();
  const reports = await readIndexReports(sql, projectId);
  const since = at === "" ? "" : `, ${new Date(at).toISOString()}`;
  const change = `change log: at ${seq}${since}\n`;
  if (reports.length === 0) return `${change}no running server reports an index\n`;
  return change + tableOf(reports, COLUMNS);
}

/**
 * Waits until the indexes of a project are complete on every running server that has loaded it. Throws a CommandError
 * with the work that is left when the time is over.
 */
async function untilComplete(
  io: Io,
  { sql, slug, call }: OpenProject,
  timeoutSeconds: number,
): Promise<void> {
  const read = async () => (await call("getIndexState")) as IndexState;
  let state = await read();
  const holds = async () => {
    state = await read();
    return state.complete;
  };
  const isComplete = await waiting(io.stderr, (show) =>
    untilReported(sql, holds, {
      signal: AbortSignal.timeout(timeoutSeconds * 1_000),
      pollMs: INDEX_WAIT_POLL_MS,
      onWait: () => show(progressOf(state)),
    }),
  );
  if (isComplete) return;
  const left = missingIn(state);
  throw new CommandError(`${slug}: not complete after ${timeoutSeconds} s: ${left}`);
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
  await waiting(io.stderr, (show) => {
    const onWait = async () => show(`${slug}: ${progressOf(await readIndexState(sql, id))}`);
    return untilShown(sql, { projects: [id], position, onWait });
  });
}
