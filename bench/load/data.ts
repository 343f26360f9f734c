import { CommandError } from "../../src/cli/command-error.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { type Matrix, padded, rowOf } from "../harness/vector-files.ts";
import { type Progress, progress } from "./progress.ts";
import type { Service } from "./service.ts";

const CHUNKS_PER_FILE = 10;
/** Rows per upload. The scopes change at the end of each. */
const UPLOAD_ROWS = 20_000;
const SEED = 1;

const KINDS: readonly DataKind[] = ["clusters", "uniform", "duplicates", "text", "sparse"];

/** Generated data, and queries from the same distribution that are not part of it. */
export function generate(kind: string, rows: number, queries: number, dimension: number) {
  const known = KINDS.find((candidate) => candidate === kind);
  if (known === undefined) {
    throw new CommandError(`--generate is one of ${KINDS.join(", ")}, not ${kind}`);
  }
  const all = makeVectors(known, rows + queries, dimension, SEED);
  const data = { rows, dimension, values: all.slice(0, rows * dimension) };
  return { data, queries: { rows: queries, dimension, values: all.slice(rows * dimension) } };
}

const pathOfFile = (file: number) => `bench/${String(file).padStart(8, "0")}.md`;

/** The row of the data that a result is. */
export function rowOfHit(chunk: { readonly file_path: string; readonly index: number }): number {
  const [, file = "NaN"] = /^bench\/(\d{8})\.md$/.exec(chunk.file_path) ?? [];
  return Number(file) * CHUNKS_PER_FILE + chunk.index;
}

/** One file with its chunks as a line of NDJSON. */
function fileRecord(data: Matrix, file: number, scope: object): string {
  const first = file * CHUNKS_PER_FILE;
  const count = Math.min(CHUNKS_PER_FILE, data.rows - first);
  const chunks = Array.from({ length: count }, (_, i) => ({
    content: `Row ${first + i}.`,
    embedding: Buffer.from(rowOf(data, first + i).buffer).toString("base64"),
  }));
  return `${JSON.stringify({ record: "file", path: pathOfFile(file), ...scope, chunks })}\n`;
}

/** The lines of some rows as a stream, which the upload paces. */
function lines(data: Matrix, from: number, to: number, scope: object, sent: Progress) {
  let row = from;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (row >= to) return controller.close();
      controller.enqueue(Buffer.from(fileRecord(data, row / CHUNKS_PER_FILE, scope)));
      row += CHUNKS_PER_FILE;
      sent.update(Math.min(row, data.rows));
    },
  });
}

interface ImportAnswer {
  readonly refused: number;
  readonly errors: ReadonlyArray<{ readonly line: number; readonly message: string }>;
}

/**
 * Imports the rows over HTTP into the scope that is searched, ten chunks per file, and creates the
 * project if the caller sees none of this name. Repeating it changes nothing.
 */
export async function importRows(service: Service, given: Matrix): Promise<void> {
  const data = padded(given);
  const { environment, release } = service.options;
  if (!(await service.exists())) await service.create();
  const scope = release === undefined ? { environments: [environment] } : { releases: [release] };
  const type = "application/x-ndjson";
  const body = `${JSON.stringify({ record: "environment", name: environment })}\n`;
  if (release === undefined) await service.call("POST", "import", { body, type });
  const sent = progress(
    "importing {bar} {value} of {total} vectors | {eta_formatted} left",
    data.rows,
  );
  try {
    for (let from = 0; from < data.rows; from += UPLOAD_ROWS) {
      const stream = lines(data, from, Math.min(data.rows, from + UPLOAD_ROWS), scope, sent);
      const answer = await service.call<ImportAnswer>("POST", "import", { body: stream, type });
      const [error] = answer.errors;
      if (error !== undefined) {
        throw new CommandError(`${answer.refused} lines were refused, first: ${error.message}`);
      }
    }
  } finally {
    sent.stop();
  }
}

interface IndexState {
  readonly complete: boolean;
  readonly data: ReadonlyArray<{
    readonly dimension: number | null;
    readonly vectors: number;
    readonly graph_backlog: number;
    readonly memory_bytes: number;
  }>;
}

const POLL_MS = 500;

/** Waits until the indexes are complete. Throws when the time is over. */
export async function untilComplete(
  service: Service,
  dimension: number,
  timeoutSeconds: number,
): Promise<{ readonly vectors: number; readonly bytes: number }> {
  const deadline = performance.now() + timeoutSeconds * 1_000;
  const bar = progress("indexing {bar} {value} of {total} vectors in the graph", 0);
  try {
    for (;;) {
      const { complete, data } = await service.call<IndexState>("GET", "index-state");
      const [index] = data.filter((part) => part.dimension === dimension);
      if (complete && index !== undefined) {
        return { vectors: index.vectors, bytes: index.memory_bytes };
      }
      bar.setTotal(index?.vectors ?? 0);
      bar.update((index?.vectors ?? 0) - (index?.graph_backlog ?? 0));
      if (performance.now() > deadline) {
        throw new CommandError(
          `the index is not complete after ${timeoutSeconds} s: see ./tessera index status, wait longer with --wait, or measure as it is with --no-wait`,
        );
      }
      await Bun.sleep(POLL_MS);
    }
  } finally {
    bar.stop();
  }
}
