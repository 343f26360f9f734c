import { OPERATOR } from "../../auth/audit/actor.ts";
import type { Sql } from "../../db/client.ts";
import { RecordError } from "../../documents/errors.ts";
import { TABLE_ROWS_PER_READ } from "../../domain/limits.ts";
import type { Embedder } from "../../embed/embedders/embedder.ts";
import { type ImportDestination, missingRecords } from "./destination.ts";
import { importRecords } from "./import-records.ts";
import type { ImportSummary } from "./import-summary.ts";
import { BatchBuilder, type InputRecord } from "./records/batches.ts";
import type { ColumnMap } from "./tables/column-map.ts";
import { readRows } from "./tables/rows.ts";
import { chunkOf, embedMissing, fileRecord, type TableFile } from "./tables/table-files.ts";

interface TableImport extends ImportDestination {
  /** Parquet files, or JSON lines. */
  readonly files: readonly string[];
  readonly columns: ColumnMap;
  /** Embeds the texts if the columns have no embedding. */
  readonly embedder: Embedder;
  readonly strict: boolean;
}

interface TableListener {
  /** Called with the number of bytes of the files that were read, before decompression. */
  onRead(bytes: number): void;
  onReport(where: string, reason: string): void;
  onBatch(imported: ReadonlyMap<string, number>): void;
  /** Called after the last record with each thing that the import then does, or waits for. */
  onFinishing(step: string): void;
}

/** Imports the rows of tables as chunks of files. Throws an ImportError or an EmbeddingError. */
export async function importTable(
  sql: Sql,
  work: TableImport,
  listener: TableListener,
): Promise<ImportSummary> {
  return await importRecords(sql, readBatches(sql, work, listener), {
    actor: OPERATOR,
    strict: work.strict,
    onRejected: listener.onReport,
    onBatch: listener.onBatch,
    onFinishing: listener.onFinishing,
  });
}

async function* readBatches(
  sql: Sql,
  work: TableImport,
  listener: TableListener,
): AsyncGenerator<InputRecord[]> {
  const { project, environments, embedder } = work;
  const missing = await missingRecords(sql, work);
  if (missing.length > 0) yield missing;
  const batch = new BatchBuilder();
  for await (const group of tableFiles(work, listener)) {
    await embedMissing(
      group.filter((each): each is TableFile => "chunks" in each),
      embedder,
    );
    for (const each of group) {
      const size = "chunks" in each ? sizeOf(each) : 0;
      batch.add("chunks" in each ? fileRecord(each, project, environments) : each, size);
      if (batch.full) yield batch.take();
    }
  }
  if (!batch.empty) yield batch.take();
}

function sizeOf({ chunks }: TableFile): number {
  return chunks.reduce((sum, { content, embedding }) => {
    const vector =
      typeof embedding === "string" ? embedding.length : 4 * ((embedding as []) ?? []).length;
    return sum + content.length + vector;
  }, 0);
}

/** Groups rows in succession to files. Rejected rows are passed on as they are. */
async function* tableFiles(
  { files, columns }: TableImport,
  { onRead, onReport }: TableListener,
): AsyncGenerator<(TableFile | InputRecord)[]> {
  let group: (TableFile | InputRecord)[] = [];
  let open: TableFile | undefined;
  for (const name of files) {
    const binary = new Set<string>();
    let isEmpty = true;
    const onBinary = (column: string) => {
      if (!binary.has(column))
        onReport(name, `${column} is binary and is left out of the metadata`);
      binary.add(column);
    };
    for await (const rows of readRows(name, onRead)) {
      for (const row of rows) {
        isEmpty = false;
        try {
          const { path, chunk } = chunkOf(row, columns, onBinary);
          if (open?.path === path) {
            open.chunks.push(chunk);
            continue;
          }
          // The last file of a group may go on, so the group ends before the next one.
          if (group.length >= TABLE_ROWS_PER_READ) {
            yield group;
            group = [];
          }
          open = { where: row.where, path, chunks: [chunk] };
          group.push(open);
        } catch (error) {
          if (!(error instanceof RecordError)) throw error;
          group.push({ where: row.where, parsed: error });
          if (group.length < 2 * TABLE_ROWS_PER_READ) continue;
          // Rejected rows alone must not fill the memory.
          yield group;
          group = [];
          open = undefined;
        }
      }
    }
    if (isEmpty) onReport(name, "has no rows");
  }
  if (group.length > 0) yield group;
}
