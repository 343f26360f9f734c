import type { Sql } from "../../../db/client.ts";
import {
  IGNORED_FIELDS_MAX,
  IMPORT_EXPANSION_FREE_BYTES,
  IMPORT_EXPANSION_MAX,
  IMPORT_REFUSED_MAX,
  IMPORT_REPORT_ERRORS_MAX,
} from "../../../domain/limits.ts";
import { Problem } from "../../../domain/problem/problem.ts";
import { decompressed, type Encoding } from "../../../ops/compression/decompressed.ts";
import { importRecords } from "../import-records.ts";
import { readBatches } from "../records/batches.ts";
import { unscopedFiles } from "../records/parsed-record.ts";
import type { Source } from "../records/source.ts";
import type { ImportJob, ImportReport, ImportThreadOptions } from "./messages.ts";

/** An import waits this long for a row that another transaction holds. */
const IMPORT_LOCK_TIMEOUT_MS = 5_000;
/** The longest statement puts the files of a large scope in place. */
const IMPORT_STATEMENT_TIMEOUT_MS = 300_000;
/** An import has its whole input before a transaction begins, and only reads it between two statements. */
const IMPORT_IDLE_TIMEOUT_MS = 60_000;

/** A client waits for the answer, and other transactions wait for the locks of the import. */
const BOUNDS = {
  lockMs: IMPORT_LOCK_TIMEOUT_MS,
  statementMs: IMPORT_STATEMENT_TIMEOUT_MS,
  idleInTransactionMs: IMPORT_IDLE_TIMEOUT_MS,
};

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { connection: "close" };

/** Positions are `:LINE`, because the body of a request has no name. */
function lineOf(where: string): number {
  return Number(where.slice(1));
}

/**
 * Imports records into one project. Throws an ImportError, and problems of the input. Throws the error of
 * `requireClient` once the client has disconnected.
 */
export async function runJob(
  sql: Sql,
  {
    actor,
    target,
    embedders,
    encoding,
    strict,
    atOnce,
    maxBytes,
  }: ImportJob & Pick<ImportThreadOptions, "embedders">,
  input: AsyncIterable<Uint8Array>,
  requireClient: () => void,
): Promise<ImportReport> {
  const source: Source = {
    name: "",
    size: null,
    open: () => expanded(input, { encoding, maxBytes, requireClient }),
  };
  let refusals = 0;
  const errors: Array<{ line: number; message: string }> = [];
  const ignored = new Set<string>();
  const onUnknownField = (_: string, field: string) => {
    if (ignored.size < IGNORED_FIELDS_MAX) ignored.add(field);
  };
  const warnings: Array<{ line: number; message: string }> = [];
  let unscoped = 0;
  let firstUnscoped = "";
  const batches = readBatches([source], { target, onUnknownField });
  const summary = await importRecords(sql, batches, {
    actor,
    target,
    embedders,
    strict,
    atOnce,
    bounds: BOUNDS,
    onUnscoped(where) {
      if (unscoped++ === 0) firstUnscoped = where;
    },
    onWarning(where, message) {
      if (warnings.length < IMPORT_REPORT_ERRORS_MAX)
        warnings.push({ line: lineOf(where), message });
    },
    onRejected(where, message) {
      requireSense(++refusals);
      if (errors.length < IMPORT_REPORT_ERRORS_MAX) errors.push({ line: lineOf(where), message });
    },
  });
  if (unscoped > 0) {
    warnings.push({ line: lineOf(firstUnscoped), message: unscopedFiles(unscoped) });
  }
  const { records: lines, changedRecords: changed, rejected: refused } = summary;
  return {
    lines,
    changed,
    unchanged: lines - changed - refused,
    refused,
    // Some faults are found when the import ends, after those of later lines.
    errors: errors.sort((a, b) => a.line - b.line),
    truncated: refused > errors.length,
    ...(warnings.length === 0 || (strict && refused > 0) ? {} : { warnings }),
    ignored: [...ignored],
  };
}

interface Upload {
  readonly encoding: Encoding;
  readonly maxBytes: number;
  /** Throws once the client has disconnected. */
  readonly requireClient: () => void;
}

/**
 * The decompressed bytes of an upload. A few bytes can expand to any number of them, so the expansion is bounded by the
 * bytes that have arrived, and the client must still be connected. An upload that cannot be decompressed counts as
 * broken off. Throws `payload-too-large` and `validation-failed`.
 */
export async function* expanded(
  input: AsyncIterable<Uint8Array>,
  { encoding, maxBytes, requireClient }: Upload,
): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of input) {
      arrived += piece.byteLength;
      if (arrived > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  }
  let bytes = 0;
  try {
    for await (const piece of decompressed(encoding, counted())) {
      requireClient();
      bytes += piece.byteLength;
      const most = IMPORT_EXPANSION_FREE_BYTES + arrived * IMPORT_EXPANSION_MAX;
      if (bytes > maxBytes || (encoding !== "identity" && bytes > most)) {
        throw tooLarge(maxBytes);
      }
      yield piece;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw uploadProblem(`The body is not complete ${encoding}: ${(error as Error).message}.`);
  }
}

function tooLarge(maxBytes: number): Problem {
  const detail =
    `The records must have at most ${maxBytes} bytes, compressed or not, and at most ` +
    `${IMPORT_EXPANSION_MAX} times the bytes of the compressed body.`;
  return new Problem("payload-too-large", { detail, headers: CLOSE });
}

const uploadProblem = (detail: string) =>
  new Problem("validation-failed", { detail, headers: CLOSE });

/** Ends an import that has refused more lines than a mistake explains. */
function requireSense(refusals: number): void {
  if (refusals <= IMPORT_REFUSED_MAX) return;
  throw uploadProblem(
    `More than ${IMPORT_REFUSED_MAX} lines are refused, so the import has stopped.`,
  );
}
