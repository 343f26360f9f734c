import { type Command, CommanderError } from "commander";
import { callerDirectory } from "../../src/config/caller.ts";
import { cleanUp } from "../../support/cleanup.ts";

const USAGE_STATUS = 2;

async function statusOf<T>(command: Command, work: (options: T) => Promise<void>): Promise<number> {
  try {
    command.exitOverride().parse(process.argv.slice(2), { from: "user" });
    await work(command.opts() as T);
    return 0;
  } catch (error) {
    // Commander has printed the help or the mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_STATUS;
    process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    await cleanUp();
  }
}

/** Runs a command line that users type: messages instead of stacks, and an exit status. */
export async function runCommandLine<T>(
  command: Command,
  work: (options: T) => Promise<void>,
): Promise<never> {
  process.chdir(callerDirectory());
  process.exit(await statusOf(command, work));
}
