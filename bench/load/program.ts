import { type Command, CommanderError } from "commander";
import { callerDirectory } from "../../src/ops/config/caller.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { type BenchContext, COMMAND_LINE } from "../harness/context.ts";

const USAGE_STATUS = 2;

/** What a command line does with its options. */
type Work<T> = (options: T, context: BenchContext) => Promise<void>;

/** Runs a command line that users type: messages instead of stacks. Returns the exit status. */
export async function statusOf<T>(
  command: Command,
  args: readonly string[],
  context: BenchContext,
  work: Work<T>,
): Promise<number> {
  const { out, errors } = context;
  command.exitOverride().configureOutput({
    writeOut: (text) => out.write(text),
    writeErr: (text) => errors.write(text),
  });
  try {
    await work(command.parse([...args], { from: "user" }).opts() as T, context);
    return 0;
  } catch (error) {
    // Commander has printed the help or the mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_STATUS;
    errors.line(`tessera: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/** Runs the command line of this process, and ends it. */
export async function runCommandLine<T>(command: Command, work: Work<T>): Promise<never> {
  process.chdir(callerDirectory());
  const status = await statusOf(command, process.argv.slice(2), COMMAND_LINE, work);
  await cleanUp();
  process.exit(status);
}
