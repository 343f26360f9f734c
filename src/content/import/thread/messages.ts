import type { Actor } from "../../../auth/audit/actor.ts";
import type { PostedProblem } from "../../../domain/problem/posted-problem.ts";
import type { Encoding } from "../../../ops/compression/decompressed.ts";
import type { ThreadProtocol } from "../../../ops/threads/protocol.ts";
import type { Fingerprints } from "../put/batch.ts";
import type { ImportTarget } from "../records/target.ts";

/** An import into one project. */
export interface ImportJob {
  readonly actor: Actor;
  readonly target: ImportTarget;
  readonly encoding: Encoding;
  /** Keep all records or none. */
  readonly strict: boolean;
  /** One transaction, so that nothing is stored if the project's quota does not allow all of it. */
  readonly atOnce: boolean;
  /** Maximum bytes of the input, before and after decompression. */
  readonly maxBytes: number;
}

/** The results of an import. Every record is changed, unchanged or refused. */
export interface ImportReport {
  readonly lines: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
  /** The first refused lines, in order. */
  readonly errors: ReadonlyArray<{ readonly line: number; readonly message: string }>;
  /** True if more lines were refused than `errors` has. */
  readonly truncated: boolean;
  /** Warnings about stored records, for the first such lines. Absent without any. */
  readonly warnings?: ReadonlyArray<{ readonly line: number; readonly message: string }>;
  /** Unknown fields that were ignored, such as `file.chunks.colour`. */
  readonly ignored: readonly string[];
}

/** The options of an import thread. */
export interface ImportThreadOptions {
  readonly databaseUrl: string;
  /** Where uploads wait that are imported as a whole. */
  readonly spoolFolder: string;
  /** The fingerprints of the embedders that records may name. */
  readonly embedders: Fingerprints;
}

/** The input of the import that runs. */
export type ImportInput =
  /** A piece of the input; its memory is transferred. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The input is complete. */
  | { readonly type: "end" }
  /** The rest of the input will not arrive, or the client has disconnected: the import is to stop. */
  | { readonly type: "lost" };

/** Why an import failed. */
export interface ImportFailure extends PostedProblem {
  /** True if nothing of the import is left in its thread. */
  readonly leavesNothing: boolean;
}

export interface ImportProtocol extends ThreadProtocol {
  readonly options: ImportThreadOptions;
  /** An import. Commands that follow are its input. */
  readonly task: ImportJob;
  readonly result: { readonly report: ImportReport } | ImportFailure;
  readonly command: ImportInput;
  /** The thread has taken a piece of this many bytes out of its queue. */
  readonly event: { readonly takenBytes: number };
}
