import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import type { BenchContext } from "../harness/context.ts";
import { secondsSince } from "../harness/table.ts";
import type { Client } from "./client.ts";
import type { BenchProject, Source } from "./world.ts";

interface Imported {
  /** From the start of the command to its end. */
  readonly importSeconds: number;
  /** From the start of the command until a document is searchable. */
  readonly firstSeconds: number;
  /** From the end of the command until all documents are searchable. */
  readonly searchableSeconds: number;
  /** What the index and the process have grown by. */
  readonly indexBytes: number;
  readonly anonymousBytes: number;
}

/** Imports files into the project's environment with the command line, while the server runs. */
export async function importFiles(
  context: BenchContext,
  databaseUrl: string,
  client: Client,
  project: BenchProject,
  sources: readonly Source[],
): Promise<Imported> {
  const path = writeRecords(project, sources);
  const { server } = client;
  await client.page(project, {});
  const before = { index: await server.metric(INDEX_BYTES), anonymous: server.anonymousBytes() };
  const started = performance.now();
  const first = client
    .until(project, {}, (page) => page.shard.total_items > 0)
    .then(() => secondsSince(started));
  const { seconds: importSeconds } = await context.importFile(path, databaseUrl);
  const ended = performance.now();
  await client.until(project, {}, (page) => page.shard.total_items === sources.length);
  const searchableSeconds = secondsSince(ended);
  return {
    importSeconds,
    firstSeconds: await first,
    searchableSeconds,
    indexBytes: (await server.metric(INDEX_BYTES)) - before.index,
    anonymousBytes: server.anonymousBytes() - before.anonymous,
  };
}

const INDEX_BYTES = "tessera_index_memory_bytes";

function writeRecords(project: BenchProject, sources: readonly Source[]): string {
  const path = join(temporaryFolder("bench"), "files.ndjson");
  const records = sources.map((source) => ({
    record: "file",
    project: project.slug,
    path: source.path,
    content: source.text,
    environments: ["production"],
  }));
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}
