import { Command, CommanderError } from "commander";
import { ImportError } from "../documents/errors.ts";
import { VERSION } from "../domain/version.ts";
import { EmbeddingError } from "../embed/embedders/embedding-response.ts";
import { ModelError } from "../embed/models/model-error.ts";
import { CommandError, ReportedError } from "./command-error.ts";
import { closeAll, OutputWatch, READER_GONE_STATUS } from "./interruption.ts";
import type { Io } from "./io.ts";
import { notice, write } from "./output.ts";

const USAGE_STATUS = 2;
const SUCCESSES: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

type Loader = (io: Io) => Promise<Command>;

/**
 * In the order of the help. A command is loaded when it is needed, because loading all of them takes
 * longer than most of them run.
 */
const COMMANDS: Readonly<Record<string, Loader>> = {
  serve: async (io) => (await import("./serve.ts")).serveCommand(io),
  import: async (io) => (await import("./import.ts")).importCommand(io),
  migrate: async (io) => (await import("./migrate.ts")).migrateCommand(io),
  keys: async (io) => (await import("./keys.ts")).keysCommand(io),
  index: async (io) => (await import("./index-commands.ts")).indexCommand(io),
  vectors: async (io) => (await import("./vectors.ts")).vectorsCommand(io),
  embed: async (io) => (await import("./embed.ts")).embedCommand(io),
  embeddings: async (io) => (await import("./embeddings.ts")).embeddingsCommand(io),
  models: async (io) => (await import("./models.ts")).modelsCommand(io),
  members: async (io) => (await import("./members.ts")).membersCommand(io),
  projects: async (io) => (await import("./projects.ts")).projectsCommand(io),
  releases: async (io) => (await import("./releases.ts")).releasesCommand(io),
  environments: async (io) => (await import("./releases.ts")).environmentsCommand(io),
  files: async (io) => (await import("./files.ts")).filesCommand(io),
  sync: async (io) => (await import("./sync.ts")).syncCommand(io),
  export: async (io) => (await import("./export.ts")).exportCommand(io),
  search: async (io) => (await import("./query.ts")).searchCommand(io),
  lookup: async (io) => (await import("./query.ts")).lookupCommand(io),
  audit: async (io) => (await import("./audit.ts")).auditCommand(io),
  doctor: async (io) => (await import("./doctor.ts")).doctorCommand(io),
  bench: async (io) => (await import("./bench.ts")).benchCommand(io),
};

/** The named command, no command for the version, or all for the help and for suggestions after typos. */
function loadersOf([first = ""]: readonly string[]): Loader[] {
  if (first === "--version") return [];
  const named = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
}

async function createProgram(args: readonly string[], io: Io): Promise<Command> {
  const program = new Command("tessera")
    .description("Vector and knowledge search over project files.")
    .usage("<command> [options]")
    .version(VERSION, "--version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(run with --help for usage and examples)")
    .addHelpText(
      "after",
      "\nTessera is configured by environment variables: docs/configuration.md lists them.",
    );
  for (const load of loadersOf(args)) program.addCommand(await load(io));
  program.exitOverride().configureOutput({
    writeOut: (text) => write(io.stdout, text),
    writeErr: (text) => write(io.stderr, text),
  });
  for (const command of withDescendants(program)) command.copyInheritedSettings(program);
  return program;
}

function withDescendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...withDescendants(child)]);
}

/**
 * Runs one command and returns the exit status: 0, 1 for a failure, 2 for a usage error, and that of SIGPIPE
 * if the reader of its output has gone.
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const output = new OutputWatch(io);
  const ended = runToEnd(args, io, output);
  // A service goes on without a reader of its output.
  const status = await (args[0] === "serve" ? ended : Promise.race([ended, output.failed]));
  await output.settle();
  await closeAll(io);
  const { failure } = output;
  if (failure === undefined) return status as number;
  if (failure.code === "EPIPE") return READER_GONE_STATUS;
  notice(io, `the output cannot be written: ${failure.message}`);
  return 1;
}

async function runToEnd(args: readonly string[], io: Io, output: OutputWatch): Promise<number> {
  try {
    const program = await createProgram(args, io);
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the help or the error.
      return SUCCESSES.has(error.code) ? 0 : USAGE_STATUS;
    }
    await output.settle();
    if (error instanceof ReportedError || output.failure !== undefined) return 1;
    // Loaded for a failure only, because this module imports all parts of the service.
    const { explain, traceOf } = await import("../failure.ts");
    notice(io, (await plainMessageOf(error)) ?? explain(error));
    write(io.stderr, traceOf(error, io.env["LOG_LEVEL"]));
    return 1;
  }
}

/** The message of an error that is written for people; undefined for other errors. */
async function plainMessageOf(error: unknown): Promise<string | undefined> {
  const isPlain = [CommandError, ImportError, ModelError].some((kind) => error instanceof kind);
  if (isPlain) return (error as Error).message;
  if (!(error instanceof EmbeddingError)) return undefined;
  return (await import("./embedder-options.ts")).explainEmbeddingError(error);
}
