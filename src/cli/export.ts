import { createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, createZstdCompress } from "node:zlib";
import type { Command } from "commander";
import { exportRecords } from "../content/export/export-records.ts";
import type { Sql, Transaction } from "../db/client.ts";
import { newCommand } from "./command.ts";
import { findProject, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { jsonLine, notice } from "./output.ts";

interface Options {
  readonly project?: string;
  readonly output?: string;
  readonly credentials?: boolean;
}

export function exportCommand(io: Io): Command {
  return newCommand("export")
    .option("--project <slug>", "only this project and its members")
    .option("--output <file>", "write to this file, compressed if it ends with .gz or .zst")
    .option("--credentials", "include API keys and webhooks with the hashes of their secrets")
    .action(async (options: Options) => {
      const count = await withDatabase(io, (sql) => exportTo(io, sql, options));
      notice(io, `exported ${count} records`);
    });
}

async function exportTo(
  io: Io,
  sql: Sql,
  { project, output, credentials }: Options,
): Promise<number> {
  const id = project === undefined ? null : (await findProject(sql, project)).id;
  let count = 0;
  await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const records = exportRecords(tx as unknown as Transaction, {
      project: id,
      credentials: credentials === true,
    });
    const lines = async function* () {
      for await (const record of records) {
        count++;
        yield jsonLine(record);
      }
    };
    await write(io, Readable.from(lines()), output);
  });
  return count;
}

async function write(io: Io, lines: Readable, output: string | undefined): Promise<void> {
  if (output === undefined) {
    await pipeline(lines, io.stdout, { end: false });
    return;
  }
  // Only the owner may read it, because it may have hashes of secrets.
  const isFile = statSync(output, { throwIfNoEntry: false })?.isFile() ?? true;
  // The file may be a backup, so it is durable before the command reports it.
  const file = createWriteStream(output, { mode: 0o600, flush: isFile });
  if (output.endsWith(".gz")) await pipeline(lines, createGzip(), file);
  else if (output.endsWith(".zst")) await pipeline(lines, createZstdCompress(), file);
  else await pipeline(lines, file);
}
