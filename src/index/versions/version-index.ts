import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import type { NumberSet } from "./number-set.ts";
import type { Renumbering, VersionTable } from "./version-table.ts";

/** A chunk as an index reads it. */
export interface ChunkRow {
  readonly id: string;
  readonly file_version_id: string;
  readonly file_id: string;
  readonly file_path: string;
  readonly index: number;
  readonly content: string;
  readonly start_offset: number;
  readonly end_offset: number;
  readonly token_count: number;
  /** JSON text of an object. */
  readonly metadata: string;
  /** Little-endian float32 values; null without an embedding. */
  readonly embedding: Uint8Array | null;
}

/** A file version without chunks. */
export interface EmptyVersionRow
  extends Pick<ChunkRow, "file_version_id" | "file_id" | "file_path"> {
  readonly id: null;
  readonly embedding: null;
}

/** A file version as an index reads it. */
export interface DocumentRow {
  readonly file_version_id: string;
  readonly path: string;
  /** The text of a Markdown file, joined from its chunks if necessary; null for other files. */
  readonly content: string | null;
}

/** The fields of a file version that filters compare, as an index reads them. */
export interface FieldsRow {
  readonly file_version_id: string;
  readonly path: string;
  /** The beginning of a Markdown file with its frontmatter, if it has any; null for other files. */
  readonly head: string | null;
  /** For each chunk by index the dimension of its embedding, or 0 without one. */
  readonly dimensions: readonly number[];
  /** The metadata of the chunks in the same order, as the JSON text of an array. */
  readonly metadata: string;
}

/**
 * Reads file versions in bounded batches. All rows of one version are consecutive. A version that
 * is not stored has no row: its commit may have been lost in a crash after it was announced.
 */
export interface VersionReader {
  /** Chunks by version, then index. */
  chunks(versionIds: readonly string[]): AsyncIterable<ReadonlyArray<ChunkRow | EmptyVersionRow>>;
  documents(versionIds: readonly string[]): AsyncIterable<readonly DocumentRow[]>;
  fields(versionIds: readonly string[]): AsyncIterable<readonly FieldsRow[]>;
}

/** The members of a scope, by the numbers of the table of versions. */
export interface Members {
  /** The versions of which at least one chunk belongs to the scope, ascending. */
  readonly numbers: Uint32Array;
  /** The chunks that belong to the scope; null for all of those versions. */
  readonly chunks: NumberSet | null;
}

/** The contents of one part of a project's index, for `index status` and metrics. */
export interface IndexPart {
  /** The vectors' dimension; 0 without vectors. */
  readonly dimension: number;
  /** Vectors or texts. */
  readonly entries: number;
  /** Entries for which no maintenance is pending. */
  readonly maintained: number;
  /** True when no maintenance is pending: graphs are built and calibrated. */
  readonly settled: boolean;
  /** Memory in use. */
  readonly bytes: number;
}

/**
 * The remaining maintenance of an index: `more` if it has changed the index and the next slice can follow immediately,
 * `busy` if it continues in the background or must wait for a while, `done` if it is complete.
 */
export type MaintenanceState = "more" | "busy" | "done";

/**
 * A kind of index that follows the change log. File versions are immutable: each is read once and is known from then
 * on. All indexes of a project share its table of versions. A scope (an environment or a release) is a set of known
 * versions and is replaced as a whole. A single thread makes all calls, one at a time per project. Only calls that
 * return a promise let other projects and maintenance run in between.
 */
export interface VersionIndex {
  /** Names the index in messages, logs and manifests: lower-case letters. */
  readonly name: string;
  /** Creates an empty project unless it is open. */
  openProject(projectId: string, table: VersionTable): void;
  /** Removes a project and frees its memory. Unknown projects are ignored. */
  dropProject(projectId: string): void;
  /** Reads versions and adds them under their numbers. Those that are not stored are left out. */
  add(projectId: string, versionIds: readonly string[], reader: VersionReader): Promise<void>;
  /**
   * Replaces a scope atomically. One that is derived from another by a filter has a \`#\` in its id. It must be dropped
   * when the other one changes, and is in no snapshot. Absent in an index that is not searched.
   */
  setScope?(projectId: string, scopeId: string, members: Members): void;
  dropScope?(projectId: string, scopeId: string): void;
  /**
   * Versions that were added again have other numbers from now on. Absent in an index that has read them again.
   *
   * @param numbers by the earlier ones
   */
  moveNumbers?(projectId: string, numbers: ReadonlyMap<number, number>): void;
  /** Forgets versions, and gives the others new numbers. No version is being added. */
  renumber(projectId: string, renumbering: Renumbering): void;
  /** Does a slice of background work on the calling thread, or begins some elsewhere. */
  maintain(projectId: string): MaintenanceState;
  /**
   * Does maintenance that is worth waiting for before a project that was just indexed from the beginning is
   * searched. Resolves within seconds, also when it fails.
   */
  settle?(projectId: string): Promise<void>;
  /** Lets maintenance calibrate the searches of a dimension again. */
  recalibrate?(projectId: string, dimension: number): void;
  /**
   * Writes the project durably as parts of a snapshot. They hold at least the contents of the index at the time of the
   * call.
   */
  snapshot(projectId: string, writer: PartWriter): Promise<readonly Part[]>;
  /**
   * Opens a project from its parts, in the order of `snapshot`. Versions that they lack are no longer known to the
   * table. Rejects if a part is missing or damaged.
   */
  restore(projectId: string, table: VersionTable, reader: PartReader): Promise<void>;
  /** One entry per dimension; empty when the project is not open. */
  stats(projectId: string): readonly IndexPart[];
}
