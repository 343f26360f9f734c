import type { Sql } from "../../db/client.ts";
import {
  IMPORT_IDLE_TIMEOUT_MS,
  IMPORT_LOCK_TIMEOUT_MS,
  IMPORT_REPORT_ERRORS_MAX,
  IMPORT_STATEMENT_TIMEOUT_MS,
} from "../../shared/limits.ts";
import { importRecords } from "../import-records.ts";
import { readBatches } from "../records/batches.ts";
import { ImportError } from "../records/errors.ts";
import { decompressed, type Source } from "../records/source.ts";
import type { ImportJob, ImportReport } from "./messages.ts";

/** Someone waits for the answer, and others for what the import holds. */
const BOUNDS = {
  lockMs: IMPORT_LOCK_TIMEOUT_MS,
  statementMs: IMPORT_STATEMENT_TIMEOUT_MS,
  idleInTransactionMs: IMPORT_IDLE_TIMEOUT_MS,
};

/** The input is larger than allowed. */
export class InputTooLarge extends ImportError {}

async function* limited(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of input) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new InputTooLarge("the input is too large");
    yield piece;
  }
}

/** Positions are `:LINE`, because the body of a request has no name. */
function lineOf(where: string): number {
  return Number(where.slice(1));
}

/** Imports records into one project. Throws an ImportError, such as InputTooLarge. */
export async function runJob(
  sql: Sql,
  { actor, target, encoding, strict, maxBytes }: ImportJob,
  input: AsyncIterable<Uint8Array>,
): Promise<ImportReport> {
  const source: Source = {
    name: "",
    size: null,
    // A few bytes can expand to any number of them, so the limit applies to both sides.
    open: () => limited(decompressed(encoding, limited(input, maxBytes)), maxBytes),
  };
  const errors: Array<{ line: number; message: string }> = [];
  const summary = await importRecords(sql, readBatches([source], { target }), {
    actor,
    target,
    strict,
    bounds: BOUNDS,
    onRejected(where, message) {
      if (errors.length < IMPORT_REPORT_ERRORS_MAX) errors.push({ line: lineOf(where), message });
    },
  });
  const { records: lines, changedRecords: changed, rejected: refused } = summary;
  return {
    lines,
    changed,
    unchanged: lines - changed - refused,
    refused,
    // Some faults are found when the import ends, after those of later lines.
    errors: errors.sort((a, b) => a.line - b.line),
    truncated: refused > errors.length,
  };
}
