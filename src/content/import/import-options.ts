import type { Actor } from "../../auth/audit/actor.ts";
import type { Charging } from "../../db/quotas.ts";
import type { Fingerprints } from "./put/batch.ts";
import type { ImportTarget } from "./records/target.ts";
import type { TimeBounds } from "./session.ts";

export interface ImportOptions {
  /** The fingerprints of the embedders that records may name; only the built-in one by default. */
  readonly embedders?: Fingerprints | undefined;
  /** The actor of the import, for the audit log. */
  readonly actor: Actor;
  /**
   * True for a command that writes one record: the audit log then has an entry for the change, and none for the import.
   */
  readonly isCommand?: boolean;
  /** The only project that the records may belong to; `readBatches` needs it too. */
  readonly target?: ImportTarget;
  /** Import nothing if a single record is rejected. */
  readonly strict: boolean;
  /** Import in one transaction; a strict import is one in any case. */
  readonly atOnce?: boolean;
  /** Called for each rejected record, in input order. */
  readonly onRejected: (where: string, reason: string) => void;
  /** Called after each batch with the number of imported records by kind. */
  readonly onBatch?: (imported: ReadonlyMap<string, number>) => void;
  /** Called after the last record with each step that follows, or that the import waits for. */
  readonly onFinishing?: (step: string) => void;
  /** Called for each stored file that names no scope. */
  readonly onUnscoped?: (where: string) => void;
  /** Called with each warning about a stored file. */
  readonly onWarning?: (where: string, message: string) => void;
  /** How long the import waits for lagging indexes. */
  readonly indexWaitMaxMs?: number;
  /** None by default. */
  readonly bounds?: TimeBounds;
  /** Runs after the last record, in its own transaction. Returns how many rows it changed. */
  readonly finalStep?: (writer: Charging) => Promise<number>;
}
