import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { importFile } from "../support/import-file.ts";
import { secondsSince } from "../support/table.ts";
import type { Client } from "./client.ts";
import type { BenchProject, Source } from "./world.ts";

interface Imported {
  /** From the start of the command to its end. */
  readonly importSeconds: number;
  /** From then on, until all documents are searchable. */
  readonly searchableSeconds: number;
}

/** Imports files into the project's environment with the command line, while the server runs. */
export async function importFiles(
  databaseUrl: string,
  client: Client,
  project: BenchProject,
  sources: readonly Source[],
): Promise<Imported> {
  const path = join(temporaryFolder("bench"), "files.ndjson");
  const records = sources.map((source) => ({
    record: "file",
    project: project.slug,
    path: source.path,
    content: source.text,
    environments: ["production"],
  }));
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const { seconds: importSeconds } = await importFile(path, databaseUrl);
  const ended = performance.now();
  await client.until(project, {}, (page) => page.shard.total_items === sources.length);
  return { importSeconds, searchableSeconds: secondsSince(ended) };
}
