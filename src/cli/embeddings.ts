import { type Command, Option } from "commander";
import { retryFailures } from "../content/embeddings/queue/failures.ts";
import { rebuildEmbeddings } from "../content/embeddings/rebuild.ts";
import { countRebuilding, withClaimedRebuild } from "../content/embeddings/rebuild-requests.ts";
import { fingerprintOf } from "../content/embeddings/store.ts";
import type { Sql } from "../db/client.ts";
import {
  EmbedderAway,
  embedderName,
  type ProjectEmbedder,
} from "../embed/embedders/project-embedders.ts";
import { newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { configuredEmbedder, configuredEmbedders } from "./configured-embedder.ts";
import { changeDatabase, findProject, type Project } from "./database.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { Operations } from "./operations.ts";
import { notice, print, withoutControls } from "./output.ts";
import { withBar } from "./progress.ts";

/** Interval of looking whether a service has embedded a project again. */
const REBUILD_POLL_MS = 500;

interface Options {
  readonly project: string;
  readonly embedder?: string;
  readonly failed?: boolean;
}

export function embeddingsCommand(io: Io): Command {
  const rebuild = newCommand("embeddings rebuild", "project")
    .option("--embedder <name>", "the embedder that the project gets; default: the one it has")
    .addOption(
      new Option(
        "--failed",
        "only let the service try the chunks again at which its embedder has failed",
      ).conflicts("embedder"),
    )
    .action(async (options: Options) => {
      await changeDatabase(io, (sql) => rebuildProject(io, sql, options));
    });
  return newGroup("embeddings", "Manage embeddings.", [rebuild]);
}

async function embedderOf(
  io: Io,
  sql: Sql,
  { id, slug }: Project,
  given: string | undefined,
): Promise<ProjectEmbedder> {
  const fingerprint = await fingerprintOf(sql, id);
  const name = given ?? (fingerprint === null ? undefined : embedderName(fingerprint));
  if (name === undefined) {
    throw new CommandError(`${slug} has no embedder: name one with --embedder`);
  }
  return await configuredEmbedder(io, name);
}

/** Embeds a project again, as the command does. */
export async function rebuildProject(
  io: Io,
  sql: Sql,
  { project: reference, embedder: given, failed }: Options,
) {
  const project = await findProject(sql, reference);
  if (failed) {
    const chunks = await retryFailures(sql, project.id);
    print(io, `the service tries ${chunks} chunks again`);
    return;
  }
  const embedder = await embedderOf(io, sql, project, given);
  const operations = await Operations.open(sql, await configuredEmbedders(io));
  await operations.call("updateProject", {
    params: { project_reference: project.id },
    body: { embedder: embedder.name, rebuild: true },
  });
  const keeps = () =>
    "the same command goes on where it was, and so does a service with this embedder";
  await interruptible(keeps, async () => {
    const rebuild = () => embedAgain(io, sql, project, embedder);
    // A running service may have begun.
    while ((await countRebuilding(sql, project.id)) > 0) {
      const { fingerprint } = embedder;
      if (await withClaimedRebuild(sql, fingerprint, rebuild, project.id)) return;
      await Bun.sleep(REBUILD_POLL_MS);
    }
    print(io, `a service embedded the chunks by ${embedder.fingerprint}`);
  });
}

async function embedAgain(io: Io, sql: Sql, { id }: Project, embedder: ProjectEmbedder) {
  const format = "embedding {bar} {percentage}% | {value} of {total} chunks | {eta_formatted} left";
  let [total, kept, refused] = [0, 0, 0];
  try {
    await withBar(io.stderr, format, (bar) =>
      rebuildEmbeddings(sql, id, embedder, {
        onStart(all, done) {
          [total, kept] = [all, done];
          bar?.start(all, done);
        },
        onEmbedded: (chunks) => bar?.increment(chunks),
        onRefused(path, reason) {
          refused++;
          notice(io, `${withoutControls(path)}: ${reason}`);
        },
        onAway: (message) => notice(io, `${message}; trying again`),
      }),
    );
  } catch (error) {
    if (!(error instanceof EmbedderAway)) throw error;
    throw new CommandError(`${error.message}: run the command again, which goes on where it was`);
  }
  const before = kept === 0 ? "" : `, ${kept} of them before`;
  const without = refused === 0 ? "" : `; ${refused} failed and wait`;
  print(io, `embedded ${total - refused} chunks by ${embedder.fingerprint}${before}${without}`);
}
