import type { SingleBar } from "cli-progress";
import { Option } from "commander";
import { readIndexState } from "../api/projects/index-state.ts";
import { projectIdsOf } from "../auth/project-reference.ts";
import type { Sql } from "../db/client.ts";
import { positionOf } from "../indexing/changes/index-state.ts";
import { untilShown } from "../indexing/changes/visibility.ts";
import { CommandError } from "./command-error.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";
import { progressBar } from "./progress-bar.ts";

/** Between two looks of a command that waits until an index is complete. */
const INDEX_WAIT_POLL_MS = 500;
/** A command that has changed something waits no longer than this until searches see it. */
const SEARCHABLE_WAIT_SECONDS = 60;

type State = Awaited<ReturnType<typeof readIndexState>>;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** What is missing until the index is complete, in one phrase. */
function missing({ data }: State): string {
  if (data.length === 0) return "no running server has loaded it; a search loads it";
  const pending = Math.max(...data.map((index) => index.pending_changes));
  const backlog = sum(data.map((index) => index.graph_backlog));
  if (pending > 0) return `${pending} pending ${pending === 1 ? "change" : "changes"}`;
  if (backlog > 0) return `${backlog} vectors not in the graph`;
  return "indexes being built or calibrated";
}

const COMPLETING = "indexing {bar} {value} of {total} vectors in the graph | {missing}";
const SHOWING = "waiting until searches see the change | {missing}";

function openBar(io: Io, format: string): SingleBar | undefined {
  const bar = progressBar(io.stderr, format);
  bar?.start(0, 0, { missing: "" });
  return bar;
}

function draw(bar: SingleBar | undefined, state: State): void {
  const vectors = sum(state.data.map((index) => index.vectors));
  const backlog = sum(state.data.map((index) => index.graph_backlog));
  bar?.setTotal(vectors);
  bar?.update(vectors - backlog, { missing: missing(state) });
}

/**
 * Waits until the indexes of a project are complete on every running server that has loaded it.
 * Throws a CommandError that says what is missing when the time is over.
 */
export async function waitUntilComplete(
  io: Io,
  sql: Sql,
  reference: string,
  timeoutSeconds: number,
): Promise<void> {
  const project = await findProject(sql, reference);
  const deadline = performance.now() + timeoutSeconds * 1_000;
  const bar = openBar(io, COMPLETING);
  try {
    for (;;) {
      const state = await readIndexState(sql, project.id);
      if (state.complete) return;
      draw(bar, state);
      if (performance.now() >= deadline) {
        throw new CommandError(
          `${project.slug}: not complete after ${timeoutSeconds} s: ${missing(state)}`,
        );
      }
      await Bun.sleep(INDEX_WAIT_POLL_MS);
    }
  } finally {
    bar?.stop();
  }
}

/** `--no-wait`, for every command that changes what searches see. */
export function noWaitOption(): Option {
  return new Option("--no-wait", "end before searches of a running service see the change");
}

/** What is missing until searches see one of the projects; undefined when none is found any more. */
async function missingOf(sql: Sql, projects: readonly string[]): Promise<string | undefined> {
  for (const reference of projects) {
    const project = await findProject(sql, reference).catch(() => undefined);
    if (project === undefined) continue;
    const state = await readIndexState(sql, project.id);
    const isShown = state.data.every((index) => index.pending_changes === 0);
    if (!isShown) return `${project.slug}: ${missing(state)}`;
  }
  return undefined;
}

/**
 * Waits until searches of all running services see the last commit in the projects that these references name;
 * not at all if none runs. What is missing after SEARCHABLE_WAIT_SECONDS is said.
 */
export async function untilSearchable(
  io: Io,
  sql: Sql,
  projects: Iterable<string>,
  wait = true,
): Promise<void> {
  if (!wait) return;
  const wanted = await projectIdsOf(sql, projects);
  if (wanted.length === 0) return;
  const position = await positionOf(sql, wanted);
  const startedAt = performance.now();
  const look = () => missingOf(sql, wanted).then((text) => text ?? "a server to report");
  let bar: SingleBar | undefined;
  let lookAt = startedAt + INDEX_WAIT_POLL_MS;
  const onWait = async () => {
    const now = performance.now();
    if (!io.stderr.isTTY || now < lookAt) return;
    lookAt = now + INDEX_WAIT_POLL_MS;
    bar ??= openBar(io, SHOWING);
    bar?.update(0, { missing: await look() });
  };
  const timeoutMs = SEARCHABLE_WAIT_SECONDS * 1_000;
  const isShown = await untilShown(sql, { projects: wanted, position, timeoutMs, onWait }).finally(
    () => bar?.stop(),
  );
  if (isShown) return;
  notice(
    io,
    `stored, but searches do not see it after ${SEARCHABLE_WAIT_SECONDS} s: waiting for ${await look()}`,
  );
}
