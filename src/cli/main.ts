import { Command, CommanderError } from "commander";
import { explain } from "../failure.ts";
import { EmbeddingError } from "../import/embedders/embedding-error.ts";
import { ImportError } from "../import/records/errors.ts";
import { VERSION } from "../shared/version.ts";
import { CommandError } from "./command-error.ts";
import { explainEmbeddingError } from "./embedder-options.ts";

const USAGE_STATUS = 2;
const SUCCESSES: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

/**
 * In the order of the help. A command is loaded when it is needed, because loading all of them takes
 * longer than most of them run.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  import: async () => (await import("./import.ts")).importCommand(),
  migrate: async () => (await import("./migrate.ts")).migrateCommand(),
  keys: async () => (await import("./keys.ts")).keysCommand(),
  index: async () => (await import("./index-commands.ts")).indexCommand(),
  embed: async () => (await import("./embed.ts")).embedCommand(),
  members: async () => (await import("./members.ts")).membersCommand(),
  projects: async () => (await import("./projects.ts")).projectsCommand(),
  releases: async () => (await import("./releases.ts")).releasesCommand(),
  environments: async () => (await import("./releases.ts")).environmentsCommand(),
  files: async () => (await import("./files.ts")).filesCommand(),
  export: async () => (await import("./export.ts")).exportCommand(),
  search: async () => (await import("./query.ts")).searchCommand(),
  lookup: async () => (await import("./query.ts")).lookupCommand(),
  audit: async () => (await import("./audit.ts")).auditCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  bench: async () => (await import("./bench.ts")).benchCommand(),
};

/** The named command, none for the version, or all for the help and for suggestions after typos. */
function loadersOf([first = ""]: readonly string[]): Array<() => Promise<Command>> {
  if (first === "--version") return [];
  const named = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
}

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command("tessera")
    .description("Vector and knowledge search over project files.")
    .usage("<command> [options]")
    .version(VERSION, "--version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(run with --help for usage and examples)")
    .addHelpText(
      "after",
      "\nTessera is configured by environment variables. The README lists them.",
    );
  for (const load of loadersOf(args)) program.addCommand(await load());
  program.exitOverride();
  for (const command of withDescendants(program)) command.copyInheritedSettings(program);
  return program;
}

function withDescendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...withDescendants(child)]);
}

/** Runs one command and returns the exit status: 0, 1 for a failure, 2 for a usage error. */
async function run(args: readonly string[]): Promise<number> {
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the help or the error.
      return SUCCESSES.has(error.code) ? 0 : USAGE_STATUS;
    }
    process.stderr.write(`tessera: ${messageOf(error)}\n`);
    return 1;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof ImportError) return error.message;
  return error instanceof EmbeddingError ? explainEmbeddingError(error) : explain(error);
}

process.exitCode = await run(process.argv.slice(2));
