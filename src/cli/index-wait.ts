import { projectIdsOf, projectNamed } from "../auth/project-reference.ts";
import { type IndexState, readIndexState } from "../content/projects/index-state.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../index/changes/change-log.ts";
import { untilShown } from "../index/changes/visibility.ts";
import { commandName } from "../ops/config/caller.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { notice, plural } from "./output.ts";
import { waiting } from "./progress.ts";

/** Maximum wait of a command until searches see its change. */
const SEARCHABLE_WAIT_SECONDS = 60;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The work that is left until the index is complete, in one phrase. */
export function missingIn({ data }: IndexState): string {
  if (data.length === 0) return "no running server has loaded it; a search loads it";
  const pending = Math.max(...data.map((index) => index.pending_changes));
  const backlog = sum(data.map((index) => index.graph_backlog));
  if (pending > 0) return plural(pending, "pending change");
  if (backlog > 0) return `${backlog} vectors not in the graph`;
  return "indexes being built or calibrated";
}

/** The progress of the indexes, with the work that is left. */
export function progressOf(state: IndexState): string {
  const vectors = sum(state.data.map((index) => index.vectors));
  const graphed = vectors - sum(state.data.map((index) => index.graph_backlog));
  return `indexing: ${graphed} of ${vectors} vectors in the graph | ${missingIn(state)}`;
}

/** The work that is left until searches see the first project that lacks a change. */
async function missingOf(sql: Sql, projects: readonly string[]): Promise<string> {
  for (const id of projects) {
    const project = await projectNamed(sql, id);
    if (project === undefined) continue;
    const state = await readIndexState(sql, project.id);
    const isShown = state.data.every((index) => index.pending_changes === 0);
    if (!isShown) return `${project.slug}: ${missingIn(state)}`;
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
  const isShown = await waiting(io.stderr, (show) => {
    const onWait = async () =>
      show(`waiting until searches see the change | ${await missingOf(sql, projects)}`);
    return untilShown(sql, { projects, position, signal, onWait });
  });
  if (isShown) return;
  const left = await missingOf(sql, projects);
  notice(
    io,
    `stored, but searches do not see it after ${SEARCHABLE_WAIT_SECONDS} s: waiting for ${left}`,
  );
}
