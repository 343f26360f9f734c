import { Command, CommanderError } from "commander";
import { explain } from "../failure.ts";
import { EmbeddingError } from "../import/embedders/embedding-error.ts";
import { ImportError } from "../import/records/errors.ts";
import { auditCommand } from "./audit.ts";
import { benchCommand } from "./bench.ts";
import { CommandError } from "./command-error.ts";
import { doctorCommand } from "./doctor.ts";
import { embedCommand } from "./embed.ts";
import { explainEmbeddingError } from "./embedder-options.ts";
import { exportCommand } from "./export.ts";
import { filesCommand } from "./files.ts";
import { importCommand } from "./import.ts";
import { indexCommand } from "./index-commands.ts";
import { keysCommand } from "./keys.ts";
import { membersCommand } from "./members.ts";
import { migrateCommand } from "./migrate.ts";
import { projectsCommand } from "./projects.ts";
import { lookupCommand, searchCommand } from "./query.ts";
import { environmentsCommand, releasesCommand } from "./releases.ts";
import { serveCommand } from "./serve.ts";
import { VERSION } from "./version.ts";

const USAGE_STATUS = 2;
const SUCCESSES: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

function createProgram(): Command {
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
  const commands = [
    serveCommand(),
    importCommand(),
    migrateCommand(),
    keysCommand(),
    indexCommand(),
    embedCommand(),
    membersCommand(),
    projectsCommand(),
    releasesCommand(),
    environmentsCommand(),
    filesCommand(),
    exportCommand(),
    searchCommand(),
    lookupCommand(),
    auditCommand(),
    doctorCommand(),
    benchCommand(),
  ];
  for (const command of commands) program.addCommand(command);
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
    await createProgram().parseAsync(args, { from: "user" });
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
