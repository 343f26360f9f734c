import { Command, CommanderError } from "commander";
import { explain } from "../failure.ts";
import { benchCommand } from "./bench.ts";
import { CommandError } from "./command-error.ts";
import { embedCommand } from "./embed.ts";
import { importCommand } from "./import.ts";
import { indexCommand } from "./index-commands.ts";
import { keysCommand } from "./keys.ts";
import { migrateCommand } from "./migrate.ts";
import { serveCommand } from "./serve.ts";

const USAGE_STATUS = 2;

function createProgram(): Command {
  const program = new Command("tessera")
    .description("Vector and knowledge search over project files.")
    .usage("<command> [options]")
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for usage and examples)")
    .addHelpText(
      "after",
      "\nConfiguration comes from the environment; see the README for all variables.",
    );
  const commands = [
    serveCommand(),
    importCommand(),
    migrateCommand(),
    keysCommand(),
    indexCommand(),
    embedCommand(),
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

/** Runs one command and returns the exit status: 0, 1 for a failure, 2 for wrong usage. */
async function run(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Asking for help is no mistake; commander has printed whatever there is to say.
      const asked = error.code === "commander.helpDisplayed" || error.code === "commander.version";
      return asked ? 0 : USAGE_STATUS;
    }
    const text = error instanceof CommandError ? error.message : explain(error);
    process.stderr.write(`tessera: ${text}\n`);
    return 1;
  }
}

process.exitCode = await run(process.argv.slice(2));
