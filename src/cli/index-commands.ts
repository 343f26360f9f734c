import { Command } from "commander";
import { listAllProjects } from "../api/projects/manage.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../indexing/changes/change-log.ts";
import { isComplete, readIndexReports, shortId } from "../indexing/changes/index-state.ts";
import { INDEX_STATE_FRESH_SECONDS } from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findProject, type Project } from "./find-project.ts";
import { waitUntilComplete } from "./index-wait.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { duration } from "./options.ts";
import { print } from "./output.ts";
import { progressBar } from "./progress-bar.ts";
import { formatTable } from "./table.ts";

const REBUILD_POLL_MS = 250;

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
    const nodes = new Set((await progressOf(sql, project.id)).keys());
    const seq = (await new ChangeLog(sql).requestRebuild(project.id)).seq;
    if (nodes.size === 0) {
      print(
        io,
        `${project.slug}: no running server has loaded it; it is rebuilt when a server next loads it\n`,
      );
      continue;
    }
    await waitForRebuild(io, sql, project, seq, nodes);
    print(
      io,
      `${project.slug}: rebuilt by ${nodes.size} running ${nodes.size === 1 ? "server" : "servers"}\n`,
    );
  }
}

/** The positions of the running servers in a project, by server. */
async function progressOf(sql: Sql, projectId: string) {
  const servers = new Map<string, { seq: number; vectors: number }>();
  for (const { fresh, server, seq, vectors } of await readIndexReports(sql, projectId)) {
    if (!fresh) continue;
    const known = servers.get(server) ?? { seq, vectors: 0 };
    servers.set(server, {
      seq: Math.min(seq, known.seq),
      vectors: vectors + known.vectors,
    });
  }
  return servers;
}

/** Waits until each node has read the request and has loaded all vectors of the project's scopes. */
async function waitForRebuild(
  io: Io,
  sql: Sql,
  project: Project,
  request: number,
  nodes: ReadonlySet<string>,
): Promise<void> {
  const expected = await new ChangeLog(sql).countVectors(project.id);
  const waiting = new Set(nodes);
  let lastSeen = performance.now();
  const bar = progressBar(io.stderr, `${project.slug}: {phase} {bar} {value} of {total} vectors`);
  bar?.start(expected, 0, { phase: "waiting for the server" });
  try {
    while (waiting.size > 0) {
      await Bun.sleep(REBUILD_POLL_MS);
      for (const [node, { seq, vectors }] of await progressOf(sql, project.id)) {
        if (!waiting.has(node)) continue;
        lastSeen = performance.now();
        if (seq < request) continue;
        if (vectors >= expected) waiting.delete(node);
        bar?.update(vectors, { phase: "rebuilding" });
      }
      if (performance.now() - lastSeen > INDEX_STATE_FRESH_SECONDS * 1_000) {
        throw new CommandError(
          `${project.slug}: the server stopped reporting; the rebuild continues when a server loads the project`,
        );
      }
    }
  } finally {
    bar?.stop();
  }
}
