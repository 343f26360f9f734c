import { Command } from "commander";
import { createOption, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";

export function migrateCommand(io: Io): Command {
  return new Command("migrate")
    .description("Migrate the database to the schema of this version.")
    .addOption(createOption())
    .addHelpText(
      "after",
      `
The server also does this when it starts. A database of a newer version is not changed.

Examples:
  ./tessera migrate
  DATABASE_URL=postgres://user:password@db/tessera ./tessera migrate`,
    )
    .action(async ({ create }: { create?: boolean }) => {
      const applied = await withDatabase(io, async (_sql, names) => names, { create });
      const text =
        applied.length === 0
          ? "the database is up to date"
          : applied.map((name) => `applied ${name}`).join("\n");
      io.stdout.write(`${text}\n`);
    });
}
