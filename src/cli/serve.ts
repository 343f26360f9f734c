import type { Command } from "commander";
import { serveUntilSignal } from "../serve.ts";
import { newCommand } from "./command.ts";
import { configOf, type Io } from "./io.ts";

export function serveCommand(io: Io): Command {
  return newCommand("serve").action(async () => {
    // Handles that the server leaves open must not keep the process alive after the shutdown.
    process.exit(await serveUntilSignal(configOf(io)));
  });
}
