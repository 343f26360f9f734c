import { type Command, InvalidArgumentError } from "commander";
import { listAllProjects } from "../content/projects/manage.ts";
import { openDatabase, type Sql } from "../db/client.ts";
import { hasCitus } from "../engine/pgvector/open-schema.ts";
import { hasSchema, readCopies } from "../engine/pgvector/operator/growth.ts";
import { type Move, planMoves } from "../engine/pgvector/operator/plan-moves.ts";
import {
  addWorker,
  lockMoves,
  moveGroup,
  readGroups,
  readWorkers,
  type TransferMode,
  transferMode,
} from "../engine/pgvector/operator/workers.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findProject, withDatabase } from "./database.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { between } from "./options.ts";
import { type Column, notice, plural, print, tableOf } from "./output.ts";
import { withBar } from "./progress.ts";
import { growProject } from "./vectors-grow.ts";

/** One, because a rebalancing holds a lock of its session. */
const CONNECTIONS = 1;
const MIB = 1_048_576;
const PLACEMENTS_MAX = 256;

function address(value: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^([^\s:]+):(\d{1,5})$/.exec(value) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new InvalidArgumentError("It must be a host and a port, such as 10.0.0.7:5432.");
  }
  return { host, port: Number(port) };
}

export function vectorsCommand(io: Io): Command {
  const status = newCommand("vectors status").action(() => withVectors(io, showStatus));
  const divide = newCommand("vectors placements", "project")
    .requiredOption("--count <number>", "the number of placements", between(1, PLACEMENTS_MAX))
    .option("--no-wait", "return at once; the node that writes vectors does the work")
    .action(({ project, count, wait }: Flags & { readonly count: number }) =>
      withCitus(io, async (vectors, platform) => {
        await growProject(io, vectors, await findProject(platform, project), count, wait);
      }),
    );
  const add = newCommand("vectors add-worker")
    .argument("<host:port>", "its address, as the coordinator reaches it", address)
    .action(({ host, port }: ReturnType<typeof address>) =>
      withCitus(io, async (vectors) => {
        const before = await readWorkers(vectors);
        await addWorker(vectors, host, port).catch((error: unknown) => {
          throw explainCitus(error);
        });
        const workers = await readWorkers(vectors);
        const outcome = workers.length > before.length ? "added" : "is a worker already";
        print(io, `${host}:${port} ${outcome}; there are ${plural(workers.length, "worker")}`);
        notice(io, "`./tessera vectors rebalance` moves placements to it");
      }),
    );
  const move = newCommand("vectors rebalance")
    .option("--dry-run", "only print the moves")
    .action(({ dryRun }: { readonly dryRun?: boolean }) =>
      withCitus(io, async (vectors) => {
        const keeps = () => "finished moves stay, and the same command moves the rest";
        await interruptible(keeps, () => rebalance(io, vectors, dryRun === true));
      }),
    );
  const about = "Manage the vectors of the engine pgvector and the servers that hold them.";
  return newGroup("vectors", about, [status, divide, add, move]);
}

type Work = (vectors: Sql, platform: Sql, io: Io) => Promise<void>;

/** Opens the database of the vectors and that of the platform. */
async function withVectors(io: Io, work: Work): Promise<void> {
  const { vectorDatabaseUrl: url } = configOf(io);
  if (url === undefined) {
    throw new CommandError(
      "no database of vectors: give this command the DATABASE_URL and the VECTOR_DATABASE_URL of the nodes",
    );
  }
  await withDatabase(io, async (platform) => {
    const vectors = openDatabase(url, {
      connections: CONNECTIONS,
      applicationName: "tessera-cli",
      statementTimeoutMs: 0,
    });
    try {
      if (!(await hasSchema(vectors))) {
        throw new CommandError(
          "the database has no vectors of this version: start a node with the same VECTOR_DATABASE_URL",
        );
      }
      await work(vectors, platform, io);
    } finally {
      await vectors.end({ timeout: 1 });
    }
  });
}

/** The same for work on placements and workers. */
async function withCitus(io: Io, work: Work): Promise<void> {
  await withVectors(io, async (vectors, platform) => {
    if (await hasCitus(vectors)) return await work(vectors, platform, io);
    throw new CommandError(
      "the database of the vectors is one server: placements and workers need the extension citus (docs/pgvector.md)",
    );
  });
}

type Worker = Awaited<ReturnType<typeof readWorkers>>[number];
type Copy = Awaited<ReturnType<typeof readCopies>>[number];

const showStatus: Work = async (vectors, platform, io) => {
  const slugs = new Map((await listAllProjects(platform)).map(({ id, slug }) => [id, slug]));
  const groups = (await hasCitus(vectors)) ? await readGroups(vectors) : undefined;
  const columns: Column<Copy>[] = [
    ["project", ({ projectId }) => slugs.get(projectId) ?? projectId],
    ["state", ({ state }) => state],
    ["placements", (copy) => String(copy.placements)],
    ["vectors", (copy) => String(copy.vectors)],
    ["graphs", ({ graphs }) => (graphs ? "yes" : "no")],
  ];
  if (groups !== undefined) {
    const of = ({ name }: Worker) => groups.filter(({ worker }) => worker === name);
    const workers: Column<Worker>[] = [
      ["worker", ({ name }) => name],
      ["placements", (worker) => String(of(worker).length)],
      ["MiB", (worker) => mebibytes(of(worker))],
      ["active", ({ active }) => (active ? "yes" : "no")],
    ];
    print(io, tableOf(await readWorkers(vectors), workers));
    const own = ({ id }: Copy) => groups.filter(({ copyId }) => copyId === id);
    columns.push(
      ["MiB", (copy) => mebibytes(own(copy))],
      ["workers", (copy) => String(new Set(own(copy).map(({ worker }) => worker)).size)],
    );
  }
  print(io, tableOf(await readCopies(vectors), columns));
};

/** The size of placements, in MiB. */
function mebibytes(placements: ReadonlyArray<{ readonly bytes: number }>): string {
  return `${Math.round(placements.reduce((sum, { bytes }) => sum + bytes, 0) / MIB)}`;
}

const MOVE_COLUMNS: readonly Column<Move>[] = [
  ["from", ({ group }) => group.worker],
  ["to", ({ to }) => to],
  ["MiB", ({ group }) => mebibytes([group])],
];

/** An error of Citus with its remedy. */
function explainCitus(error: unknown): Error {
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
async function rebalance(io: Io, vectors: Sql, dryRun: boolean): Promise<void> {
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
    print(io, tableOf(moves, MOVE_COLUMNS));
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
    throw new CommandError(`${message}; run the command again: finished moves stay`);
  }
}
