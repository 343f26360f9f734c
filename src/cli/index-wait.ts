import { Option } from "commander";
import { readIndexState } from "../api/projects/index-state.ts";
import { projectIdsOf } from "../auth/project-reference.ts";
import { commandName } from "../config/caller.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../indexing/changes/change-log.ts";
import { untilReported, untilShown } from "../indexing/changes/visibility.ts";
import { CommandError } from "./command-error.ts";
import { findProject } from "./find-project.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";
import { WaitNotice } from "./wait-notice.ts";

/** Interval between two looks at an index that a command waits for. */
const INDEX_WAIT_POLL_MS = 500;
/** Maximum wait of a command until searches see its change. */
const SEARCHABLE_WAIT_SECONDS = 60;

type State = Awaited<ReturnType<typeof readIndexState>>;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The work that is left until the index is complete, in one phrase. */
function missing({ data }: State): string {
  if (data.length === 0) return "no running server has loaded it; a search loads it";
  const pending = Math.max(...data.map((index) => index.pending_changes));
  const backlog = sum(data.map((index) => index.graph_backlog));
  if (pending > 0) return `${pending} pending ${pending === 1 ? "change" : "changes"}`;
  if (backlog > 0) return `${backlog} vectors not in the graph`;
  return "indexes being built or calibrated";
}

/** The progress of the indexes, with the work that is left. */
export function progressOf(state: State): string {
  const vectors = sum(state.data.map((index) => index.vectors));
  const graphed = vectors - sum(state.data.map((index) => index.graph_backlog));
  return `indexing: ${graphed} of ${vectors} vectors in the graph | ${missing(state)}`;
}

/**
 * Waits until the indexes of a project are complete on every running server that has loaded it. Throws a CommandError
 * with the work that is left when the time is over.
 */
export async function waitUntilComplete(
  io: Io,
  sql: Sql,
  reference: string,
  timeoutSeconds: number,
): Promise<void> {
  const project = await findProject(sql, reference);
  let state = await readIndexState(sql, project.id);
  const holds = async () => {
    state = await readIndexState(sql, project.id);
    return state.complete;
  };
  const wait = new WaitNotice(io.stderr);
  const isComplete = await untilReported(sql, holds, {
    signal: AbortSignal.timeout(timeoutSeconds * 1_000),
    pollMs: INDEX_WAIT_POLL_MS,
    onWait: () => wait.show(progressOf(state)),
  }).finally(() => wait.stop());
  if (isComplete) return;
  throw new CommandError(
    `${project.slug}: not complete after ${timeoutSeconds} s: ${missing(state)}`,
  );
}

/** `--no-wait`, for every command that changes the results of searches. */
export function noWaitOption(): Option {
  return new Option("--no-wait", "end before searches of a running service see the change");
}

/** The work that is left until searches see the first project that lacks a change. */
async function missingOf(sql: Sql, projects: readonly string[]): Promise<string> {
  for (const id of projects) {
    const project = await findProject(sql, id).catch(() => undefined);
    if (project === undefined) continue;
    const state = await readIndexState(sql, project.id);
    const isShown = state.data.every((index) => index.pending_changes === 0);
    if (!isShown) return `${project.slug}: ${missing(state)}`;
  }
  return "a server to report";
}

/** The message for an interruption of a command that only waits. */
const KEPT = () =>
  `everything is stored, and searches see it once the service has indexed it: ${commandName()} index status shows how far it is`;

/**
 * Waits until searches of all running services see the last commit in the projects that these references name; not at
 * all if none runs. After SEARCHABLE_WAIT_SECONDS it prints the work that is left.
 */
export async function untilSearchable(
  io: Io,
  sql: Sql,
  references: Iterable<string>,
  wait = true,
): Promise<void> {
  if (wait) await interruptible(KEPT, () => waitUntilSearchable(io, sql, references));
}

async function waitUntilSearchable(io: Io, sql: Sql, references: Iterable<string>): Promise<void> {
  const projects = await projectIdsOf(sql, references);
  if (projects.length === 0) return;
  const position = await new ChangeLog(sql).newest({ projects });
  const signal = AbortSignal.timeout(SEARCHABLE_WAIT_SECONDS * 1_000);
  const wait = new WaitNotice(io.stderr);
  const onWait = async () =>
    wait.show(`waiting until searches see the change | ${await missingOf(sql, projects)}`);
  const isShown = await untilShown(sql, { projects, position, signal, onWait }).finally(() =>
    wait.stop(),
  );
  if (isShown) return;
  notice(
    io,
    `stored, but searches do not see it after ${SEARCHABLE_WAIT_SECONDS} s: waiting for ${await missingOf(sql, projects)}`,
  );
}
