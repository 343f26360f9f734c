import { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { serveUntilSignal } from "../serve.ts";

export function serveCommand(): Command {
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
      process.exit(await serveUntilSignal(loadConfig()));
    });
}
