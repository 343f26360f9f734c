import { SingleBar } from "cli-progress";
import { readIndexState } from "../api/projects/index-state.ts";
import type { Sql } from "../db/client.ts";
import { CommandError } from "./command-error.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";

/** Between two looks of a command that waits until an index is complete. */
const INDEX_WAIT_POLL_MS = 500;

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

function openBar(io: Io): SingleBar | undefined {
  if (!io.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: "indexing {bar} {value} of {total} vectors in the graph | {missing}",
    stream: io.stderr,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
  });
  bar.start(0, 0, { missing: "" });
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
  const bar = openBar(io);
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
