import type { Sql } from "../db/client.ts";
import { type Move, planMoves } from "../pgvector/operator/plan-moves.ts";
import {
  lockMoves,
  moveGroup,
  readGroups,
  readWorkers,
  type TransferMode,
  transferMode,
} from "../pgvector/operator/workers.ts";
import { CommandError } from "./command-error.ts";
import type { Io } from "./io.ts";
import { type Column, notice, plural, print, tableOf } from "./output.ts";
import { withBar } from "./progress.ts";

const MIB = 1_048_576;

/** The size of placements, in MiB. */
export function mebibytes(placements: ReadonlyArray<{ readonly bytes: number }>): string {
  return `${Math.round(placements.reduce((sum, { bytes }) => sum + bytes, 0) / MIB)}`;
}

const COLUMNS: readonly Column<Move>[] = [
  ["from", ({ group }) => group.worker],
  ["to", ({ to }) => to],
  ["MiB", ({ group }) => mebibytes([group])],
];

/** An error of Citus with its remedy. */
export function explainCitus(error: unknown): Error {
  const { code, message, hint } = error as { code?: string; message: string; hint?: string };
  if (code === undefined) return error as Error;
  const said = hint === undefined ? message : `${message} (${hint})`;
  if (code === "42501") {
    return new CommandError(`${said}: give VECTOR_DATABASE_URL the role of a superuser`);
  }
  return new CommandError(
    `${said}: check that the server runs, has the database with the extensions citus and vector, and lets the coordinator connect`,
  );
}

/** Moves placements between the workers; each move is complete before the next one begins. */
export async function rebalance(io: Io, vectors: Sql, dryRun: boolean): Promise<void> {
  if (!dryRun) {
    await lockMoves(vectors, () => notice(io, "waiting for another move of placements to end"));
  }
  const workers = (await readWorkers(vectors)).filter(({ active }) => active);
  const moves = planMoves(
    await readGroups(vectors),
    workers.map(({ name }) => name),
  );
  if (moves.length === 0) {
    print(io, `nothing to move between ${plural(workers.length, "worker")}`);
    return;
  }
  if (dryRun) {
    print(io, tableOf(moves, COLUMNS));
    return;
  }
  const mode = await transferMode(vectors);
  if (mode === "block_writes") {
    notice(
      io,
      "changes of a project wait while a placement of it moves, because not all workers have wal_level = logical",
    );
  }
  await moveAll(io, vectors, moves, mode);
  const size = mebibytes(moves.map(({ group }) => group));
  print(io, `moved ${plural(moves.length, "placement")}, ${size} MiB`);
}

async function moveAll(
  io: Io,
  vectors: Sql,
  moves: readonly Move[],
  mode: TransferMode,
): Promise<void> {
  const format = "moving {bar} {value} of {total} placements | {to} gets {size} MiB";
  try {
    await withBar(io.stderr, format, async (bar) => {
      bar?.start(moves.length, 0, { to: "", size: "" });
      for (const [done, move] of moves.entries()) {
        bar?.update(done, { to: move.to, size: mebibytes([move.group]) });
        await moveGroup(vectors, move, mode);
      }
    });
  } catch (error) {
    const { message } = explainCitus(error);
    throw new CommandError(`${message}; run the command again: what has been moved stays`);
  }
}
