import { createInterface } from "node:readline/promises";
import { CommandError } from "./command-error.ts";
import type { Io } from "./io.ts";

/**
 * Asks on the terminal whether to go on. Throws a CommandError for an answer other than yes, and without a terminal.
 */
export async function confirm(io: Io, question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!io.stdin.isTTY) {
    throw new CommandError(`${question} Repeat the command with --yes to confirm.`);
  }
  const terminal = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    terminal.close();
  }
  throw new CommandError("nothing was changed");
}
