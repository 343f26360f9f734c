import { Command, InvalidArgumentError } from "commander";
import { listAllProjects } from "../api/projects/manage.ts";
import { openDatabase, type Sql } from "../db/client.ts";
import { hasCitus } from "../pgvector/open-schema.ts";
import { hasSchema, readCopies } from "../pgvector/operator/growth.ts";
import type { ShardGroup } from "../pgvector/operator/plan-moves.ts";
import { addWorker, readGroups, readWorkers } from "../pgvector/operator/workers.ts";
import { VECTOR_PLACEMENTS_MAX } from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { notice, plural, print } from "./output.ts";
import { formatTable } from "./table.ts";
import { growProject } from "./vectors-grow.ts";
import { explainCitus, rebalance } from "./vectors-rebalance.ts";

/** One, because a rebalancing holds a lock of its session. */
const CONNECTIONS = 1;
const MIB = 1_048_576;

interface PlacementsOptions {
  readonly project: string;
  readonly count: number;
  readonly wait: boolean;
}

function placements(value: string): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= VECTOR_PLACEMENTS_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${VECTOR_PLACEMENTS_MAX}.`);
}

function address(value: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^([^\s:]+):(\d{1,5})$/.exec(value) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new InvalidArgumentError("It must be a host and a port, such as 10.0.0.7:5432.");
  }
  return { host, port: Number(port) };
}

export function vectorsCommand(io: Io): Command {
  return new Command("vectors")
    .description("Manage the vectors of SEARCH_ENGINE=pgvector and the servers that hold them.")
    .addCommand(statusCommand(io))
    .addCommand(placementsCommand(io))
    .addCommand(addWorkerCommand(io))
    .addCommand(rebalanceCommand(io));
}

function statusCommand(io: Io): Command {
  return new Command("status")
    .description("Show the workers, and the placements of projects.")
    .addHelpText(
      "after",
      `
Give this command the DATABASE_URL and the VECTOR_DATABASE_URL of the nodes. A project has a second row
while a copy with other placements is filled; a "retired" one is dropped after a minute.

Example:
  ./tessera vectors status`,
    )
    .action(() => withVectors(io, (vectors, platform) => showStatus(io, vectors, platform)));
}

function placementsCommand(io: Io): Command {
  return new Command("placements")
    .description("Divide a project into another number of placements while searches go on.")
    .requiredOption("--project <slug>", "the project")
    .requiredOption("--count <number>", "how many placements it is to have", placements)
    .option("--no-wait", "return at once; the node that writes vectors does the work")
    .addHelpText(
      "after",
      `
The node that writes vectors builds a second copy of the project from the platform's database, beside the
one that is searched. Searches read it as soon as it is complete, and the old one is dropped a minute later.
Until then the project takes twice the disk space. Interrupting this command does not end the work: run it
again to see its progress. The present number as --count ends it.

Example:
  ./tessera vectors placements --project handbook --count 8`,
    )
    .action(({ project, count, wait }: PlacementsOptions) =>
      withVectors(io, async (vectors, platform) => {
        await requireCitus(vectors);
        await growProject(io, vectors, await findProject(platform, project), count, wait);
      }),
    );
}

function addWorkerCommand(io: Io): Command {
  return new Command("add-worker")
    .description("Add a server to the cluster of Citus.")
    .argument("<host:port>", "its address, as the coordinator reaches it", address)
    .addHelpText(
      "after",
      `
The server needs PostgreSQL with Citus and pgvector, a database of the same name as on the coordinator with
both extensions, and has to let the coordinator connect. The role of VECTOR_DATABASE_URL has to be a
superuser. The worker gets placements of new projects; \`./tessera vectors rebalance\` moves some to it.

Example:
  ./tessera vectors add-worker 10.0.0.7:5432`,
    )
    .action(({ host, port }: ReturnType<typeof address>) =>
      withVectors(io, async (vectors) => {
        await requireCitus(vectors);
        const before = await readWorkers(vectors);
        await addWorker(vectors, host, port).catch((error: unknown) => {
          throw explainCitus(error);
        });
        const workers = await readWorkers(vectors);
        const what = workers.length > before.length ? "added" : "is a worker already";
        print(io, `${host}:${port} ${what}; there are ${plural(workers.length, "worker")}`);
        notice(io, "`./tessera vectors rebalance` moves placements to it");
      }),
    );
}

function rebalanceCommand(io: Io): Command {
  return new Command("rebalance")
    .description("Move placements between workers until each holds about as much.")
    .option("--dry-run", "only print the moves")
    .addHelpText(
      "after",
      `
Placements are moved one after the other while searches go on. Where all workers have \`wal_level = logical\`,
changes go on too; otherwise those of a project wait while a placement of it moves. The worker that gets a
placement builds its graph, which takes most of the time. Run the command again after an interruption: what
has been moved stays.

Examples:
  ./tessera vectors rebalance --dry-run
  ./tessera vectors rebalance`,
    )
    .action(({ dryRun }: { dryRun?: boolean }) =>
      withVectors(io, async (vectors) => {
        await requireCitus(vectors);
        const keeps = () => "what was moved stays moved, and the same command moves the rest";
        await interruptible(keeps, () => rebalance(io, vectors, dryRun === true));
      }),
    );
}

/** Opens the database of the vectors and that of the platform. */
async function withVectors(
  io: Io,
  work: (vectors: Sql, platform: Sql) => Promise<void>,
): Promise<void> {
  const { vectorDatabaseUrl, databaseUrl } = configOf(io);
  const url = vectorDatabaseUrl ?? databaseUrl;
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
          "the database has no vectors of this version: start a node with SEARCH_ENGINE=pgvector and the same VECTOR_DATABASE_URL",
        );
      }
      await work(vectors, platform);
    } finally {
      await vectors.end({ timeout: 1 });
    }
  });
}

async function requireCitus(vectors: Sql): Promise<void> {
  if (await hasCitus(vectors)) return;
  throw new CommandError(
    "the database of the vectors is one server: placements and workers need the extension citus (docs/pgvector.md)",
  );
}

async function showStatus(io: Io, vectors: Sql, platform: Sql): Promise<void> {
  const slugs = new Map((await listAllProjects(platform)).map(({ id, slug }) => [id, slug]));
  const groups = (await hasCitus(vectors)) ? await readGroups(vectors) : undefined;
  if (groups !== undefined) {
    const workers = await readWorkers(vectors);
    const rows = workers.map(({ name, active }) => {
      const own = groups.filter(({ worker }) => worker === name);
      return [name, `${own.length}`, mebibytes(own), active ? "yes" : "no"];
    });
    print(io, formatTable(["worker", "placements", "MiB", "active"], rows));
  }
  const copies = await readCopies(vectors);
  const rows = copies.map(({ id, projectId, state, placements: count, vectors: size, graphs }) => {
    const own = groups?.filter(({ copyId }) => copyId === id);
    return [
      ...[slugs.get(projectId) ?? projectId, state, `${count}`, `${size}`, graphs ? "yes" : "no"],
      ...(own === undefined ? [] : [mebibytes(own), `${new Set(own.map((it) => it.worker)).size}`]),
    ];
  });
  const columns = ["project", "state", "placements", "vectors", "graphs"];
  print(io, formatTable(groups === undefined ? columns : [...columns, "MiB", "workers"], rows));
}

function mebibytes(groups: readonly ShardGroup[]): string {
  return `${Math.round(groups.reduce((sum, { bytes }) => sum + bytes, 0) / MIB)}`;
}
