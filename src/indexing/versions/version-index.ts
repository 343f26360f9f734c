/** A chunk as an index reads it, with its embedding. */
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
  readonly dimension: number;
  /** `dimension` little-endian float32 values. */
  readonly embedding: Uint8Array;
}

/** A file version that has no chunk with an embedding. */
export interface EmptyVersionRow {
  readonly id: null;
  readonly file_version_id: string;
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
  /** Chunks that have an embedding, by version, then index. */
  chunks(versionIds: readonly string[]): AsyncIterable<ReadonlyArray<ChunkRow | EmptyVersionRow>>;
  documents(versionIds: readonly string[]): AsyncIterable<readonly DocumentRow[]>;
  fields(versionIds: readonly string[]): AsyncIterable<readonly FieldsRow[]>;
}

/** Numbers of file versions or chunks, as a bitmap. */
export type NumberSet = Uint32Array;

/** The file versions of a project with numbers from 0, and their chunks in the same order. */
export interface NumberedVersions {
  /** Another value whenever versions get other numbers. */
  readonly numbering: number;
  readonly count: number;
  idOf(number: number): string;
  /** For each version the number of its first chunk, and at the end that of the next version. */
  readonly firstChunks: Uint32Array;
  /** For each chunk the dimension of its embedding, or 0 without one. */
  readonly dimensions: Uint32Array;
}

/** The members of a scope, by the version numbers of the fields index. */
export interface Members {
  readonly versions: NumberedVersions;
  /** The versions of which at least one chunk belongs to the scope, ascending. */
  readonly numbers: Uint32Array;
  /** The chunks that belong to the scope; null for all of those versions. */
  readonly chunks: NumberSet | null;
}

/** The contents of one part of a project's index, for `index status` and metrics. */
export interface IndexPart {
  /** The vectors' dimension; 0 for an index without vectors. */
  readonly dimension: number;
  readonly entries: number;
  /** Entries for which no maintenance is pending. */
  readonly maintained: number;
  /** True when no maintenance is pending: graphs are built and calibrated. */
  readonly settled: boolean;
  /** Memory in use. */
  readonly bytes: number;
}

/** A scope contains a version that was never added, or that maintenance has removed since. */
export class UnknownVersion extends Error {
  override readonly message = "the scope contains a file version that is not in the index";
}

/**
 * The remaining maintenance of an index: `more` if the next slice can follow immediately, `busy` if it continues in the
 * background or must wait for a while, `done` if it is complete.
 */
export type MaintenanceState = "more" | "busy" | "done";

/**
 * A kind of index that follows the change log. File versions are immutable: each is read once and
 * is known from then on. A scope (an environment or a release) is a set of known versions and is
 * replaced as a whole. A single thread makes all calls, one at a time per project. Only calls that
 * return a promise let other projects and maintenance run in between.
 */
export interface VersionIndex {
  /** Names the index in messages, logs and snapshot directories: lower-case letters. */
  readonly name: string;
  /** Creates an empty project unless it is open. */
  openProject(projectId: string): void;
  /** Removes a project and frees its memory. Unknown projects are ignored. */
  dropProject(projectId: string): void;
  knows(projectId: string, versionId: string): boolean;
  /**
   * Reads unknown versions and adds them. Those that are not stored remain unknown, and after a
   * failure the unfinished ones.
   */
  add(projectId: string, versionIds: readonly string[], reader: VersionReader): Promise<void>;
  /**
   * Makes versions unknown whose chunks have received embeddings. Scopes keep their current members until the versions
   * are added again. Absent in an index without embeddings.
   */
  readAgain?(projectId: string, versionIds: readonly string[]): void;
  /**
   * Replaces a scope atomically. Throws UnknownVersion and then changes nothing.
   *
   * @param members the same versions by their numbers, which are found faster than by their ids
   */
  setScope(
    projectId: string,
    scopeId: string,
    versionIds: readonly string[],
    members?: Members,
  ): void;
  dropScope(projectId: string, scopeId: string): void;
  hasScope(projectId: string, scopeId: string): boolean;
  /**
   * Replaces a derived scope atomically. It must be dropped when the scope that it is derived from
   * changes, and is in no snapshot. Absent in an index that is not searched.
   */
  derive?(projectId: string, scopeId: string, members: Members): void;
  dropDerived?(projectId: string, scopeId: string): void;
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
   * Writes the project durably into a directory of this index, and replaces its snapshot. The snapshot holds at least
   * the contents of the index at the time of the call, which include every change up to `seq`.
   */
  snapshot(projectId: string, directory: string, seq: number): Promise<void>;
  /**
   * Opens a project from its snapshot. False without a snapshot. Rejects if the snapshot is damaged, has another format
   * or lacks changes up to `seq`.
   */
  restore(projectId: string, directory: string, seq: number): Promise<boolean>;
  /** One entry per dimension; empty when the project is not open. */
  stats(projectId: string): readonly IndexPart[];
}
