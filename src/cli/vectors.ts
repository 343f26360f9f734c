import { type Command, InvalidArgumentError } from "commander";
import { listAllProjects } from "../api/projects/manage.ts";
import { openDatabase, type Sql } from "../db/client.ts";
import { hasCitus } from "../pgvector/open-schema.ts";
import { hasSchema, readCopies } from "../pgvector/operator/growth.ts";
import { addWorker, readGroups, readWorkers } from "../pgvector/operator/workers.ts";
import { VECTOR_PLACEMENTS_MAX } from "../shared/limits.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findProject, withDatabase } from "./database.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { type Column, notice, plural, print, tableOf } from "./output.ts";
import { growProject } from "./vectors-grow.ts";
import { explainCitus, mebibytes, rebalance } from "./vectors-rebalance.ts";

/** One, because a rebalancing holds a lock of its session. */
const CONNECTIONS = 1;

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
  const status = newCommand("vectors status").action(() => withVectors(io, showStatus));
  const divide = newCommand("vectors placements", "project")
    .requiredOption("--count <number>", "how many placements it is to have", placements)
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
        const keeps = () => "what was moved stays moved, and the same command moves the rest";
        await interruptible(keeps, () => rebalance(io, vectors, dryRun === true));
      }),
    );
  const about = "Manage the vectors of SEARCH_ENGINE=pgvector and the servers that hold them.";
  return newGroup("vectors", about, [status, divide, add, move]);
}

type Work = (vectors: Sql, platform: Sql, io: Io) => Promise<void>;

/** Opens the database of the vectors and that of the platform. */
async function withVectors(io: Io, work: Work): Promise<void> {
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
