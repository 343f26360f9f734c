import { Command, Option } from "commander";
import { updateProject } from "../api/projects/change.ts";
import { OPERATOR } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { retryFailures } from "../embeddings/queue/failures.ts";
import { rebuildEmbeddings } from "../embeddings/rebuild.ts";
import { countRebuilding, withClaimedRebuild } from "../embeddings/rebuild-requests.ts";
import { fingerprintOf } from "../embeddings/store.ts";
import {
  EmbedderAway,
  embedderName,
  type ProjectEmbedder,
} from "../import/embedders/project-embedders.ts";
import { CommandError } from "./command-error.ts";
import { configuredEmbedder, configuredEmbedders } from "./configured-embedder.ts";
import { changeDatabase } from "./database.ts";
import { findProject, type Project } from "./find-project.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { notice, print, withoutControls } from "./output.ts";
import { progressBar } from "./progress-bar.ts";

/** Interval of looking whether a service has embedded a project again. */
const REBUILD_POLL_MS = 500;

interface Options {
  readonly project: string;
  readonly embedder?: string;
  readonly failed?: boolean;
}

export function embeddingsCommand(io: Io): Command {
  const rebuild = new Command("rebuild")
    .description("Embed all chunks of a project again, by its embedder or another one.")
    .requiredOption("--project <slug>", "the project")
    .option("--embedder <name>", "the embedder that the project gets; default: the one it has")
    .addOption(
      new Option(
        "--failed",
        "only let the service try the chunks again at which its embedder has failed",
      ).conflicts("embedder"),
    )
    .addHelpText(
      "after",
      `
The embedder is \`hashing\`, or one that EMBEDDERS names. Give this command the EMBEDDERS of the service.
Texts without chunks are cut, too. Searches go on with the old embeddings until all new ones are stored, which
then replace them at once; the indexes of the project are rebuilt. Run the command again after an
interruption: it goes on where it was.

Examples:
  ./tessera embeddings rebuild --project handbook
  ./tessera embeddings rebuild --project handbook --embedder e5
  ./tessera embeddings rebuild --project handbook --failed`,
    )
    .action(async (options: Options) => {
      await changeDatabase(io, (sql) => rebuildProject(io, sql, options));
    });
  return new Command("embeddings").description("Manage embeddings.").addCommand(rebuild);
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
  const services = { sql, embedders: await configuredEmbedders(io) };
  const call = { principal: OPERATOR, requestId: "", reference: project.id };
  await updateProject(services, call, { embedder: embedder.name, rebuild: true });
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
  const bar = progressBar(
    io.stderr,
    "embedding {bar} {percentage}% | {value} of {total} chunks | {eta_formatted} left",
  );
  let [total, kept, refused] = [0, 0, 0];
  try {
    await rebuildEmbeddings(sql, id, embedder, {
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
    });
  } catch (error) {
    if (!(error instanceof EmbedderAway)) throw error;
    throw new CommandError(`${error.message}: run the command again, which goes on where it was`);
  } finally {
    bar?.stop();
  }
  const before = kept === 0 ? "" : `, ${kept} of them before`;
  const without = refused === 0 ? "" : `; ${refused} failed and wait`;
  print(io, `embedded ${total - refused} chunks by ${embedder.fingerprint}${before}${without}`);
}
