import { Command } from "commander";
import { serveUntilSignal } from "../serve.ts";
import { configOf, type Io } from "./io.ts";

export function serveCommand(io: Io): Command {
  return new Command("serve")
    .description("Serve the API until SIGTERM or SIGINT, like `bun start`.")
    .addHelpText(
      "after",
      `
Examples:
  ./tessera serve
  PORT=8080 DATABASE_URL=postgres://user:password@db/tessera ./tessera serve`,
    )
    .action(async () => {
      // Handles that the server leaves open must not keep the process alive after the shutdown.
      process.exit(await serveUntilSignal(configOf(io)));
    });
}
