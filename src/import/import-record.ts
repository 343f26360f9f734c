import { OPERATOR } from "../audit/actor.ts";
import type { Sql } from "../db/client.ts";
import { importRecords } from "./import-records.ts";
import type { InputRecord } from "./records/batches.ts";
import { ImportError, RecordError } from "./records/errors.ts";
import { parseRecord } from "./records/parse.ts";

async function* oneBatch(record: object): AsyncGenerator<InputRecord[]> {
  yield [{ where: "", parsed: parseRecord(record) }];
}

/**
 * Imports one record for a command. Returns whether a row changed. Throws an ImportError with the reason why the record
 * is rejected.
 */
export async function importRecord(sql: Sql, record: object): Promise<boolean> {
  const reasons: string[] = [];
  try {
    const { changed } = await importRecords(sql, oneBatch(record), {
      actor: OPERATOR,
      isCommand: true,
      strict: true,
      onRejected: (_, reason) => reasons.push(reason),
    });
    if (reasons.length === 0) return changed > 0;
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    reasons.push(error.message);
  }
  throw new ImportError(reasons.join("; "));
}
