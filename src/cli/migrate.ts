import type { Command } from "commander";
import { schemaState } from "../db/migrate.ts";
import { newCommand } from "./command.ts";
import { ReportedError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { print } from "./output.ts";

export function migrateCommand(io: Io): Command {
  return newCommand("migrate", "create")
    .option(
      "--check",
      "only print the migrations that are pending; the exit status is 1 if there are any",
    )
    .action(async ({ create, check }: { create?: boolean; check?: boolean }) => {
      if (check === true) return await printPending(io);
      const applied = await withDatabase(io, async (_sql, names) => names, {
        create,
        schema: "migrate",
      });
      print(io, linesOf("applied", applied));
    });
}

/** Prints only. Throws a ReportedError if the database lacks migrations. */
async function printPending(io: Io): Promise<void> {
  const { pending } = await withDatabase(io, (sql) => schemaState(sql), { schema: "any" });
  print(
    io,
    linesOf(
      "pending",
      pending.map(({ name }) => name),
    ),
  );
  if (pending.length > 0) throw new ReportedError();
}

function linesOf(state: string, names: readonly string[]): string {
  if (names.length === 0) return "the database is up to date\n";
  return names.map((name) => `${state} ${name}\n`).join("");
}
