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

/** A file version as an index reads it. */
export interface DocumentRow {
  readonly file_version_id: string;
  readonly path: string;
  /** Of Markdown files, put together from their chunks where need be; null for all others. */
  readonly content: string | null;
}

/**
 * Reads file versions from the database in batches of bounded size. Both orders keep what belongs
 * to one version together.
 */
export interface VersionReader {
  /** Chunks that have an embedding, by version, then index. */
  chunks(versionIds: readonly string[]): AsyncIterable<readonly ChunkRow[]>;
  documents(versionIds: readonly string[]): AsyncIterable<readonly DocumentRow[]>;
}

/** What one part of a project's index holds, for `index status` and metrics. */
export interface IndexPart {
  /** The vectors' dimension; 0 for an index that has none. */
  readonly dimension: number;
  readonly entries: number;
  /** Entries that no background work waits for. */
  readonly settled: number;
  /** Resident memory. */
  readonly bytes: number;
}

/** A scope names a version that was not read, or was forgotten since because no scope held it. */
export class UnknownVersion extends Error {
  override readonly message = "a scope names a file version that is not known";
}

/**
 * A kind of index that follows the change log. File versions are immutable: each is read once and
 * known from then on. A scope (an environment or a release) is a set of known versions, replaced
 * as a whole. One thread calls all of this, one call a project at a time; only what
 * returns a promise gives way to other projects in between, and to background work.
 */
export interface VersionIndex {
  /** Names the index in messages, logs and snapshot folders: lower-case letters. */
  readonly name: string;
  /** Makes a project known, empty unless it was open. */
  openProject(projectId: string): void;
  /** Forgets a project and frees its memory. Unknown projects are no error. */
  dropProject(projectId: string): void;
  knows(projectId: string, versionId: string): boolean;
  /** Reads versions that are not known yet. A failure leaves the unfinished ones unknown. */
  add(projectId: string, versionIds: readonly string[], reader: VersionReader): Promise<void>;
  /** Replaces the contents of a scope at once. Throws UnknownVersion, and then changes nothing. */
  setScope(projectId: string, scopeId: string, versionIds: readonly string[]): void;
  dropScope(projectId: string, scopeId: string): void;
  hasScope(projectId: string, scopeId: string): boolean;
  /** Does a slice of background work, some ten milliseconds; true while more is left. */
  settle(projectId: string): boolean;
  /**
   * Writes the project durably into a directory of this index alone; replaces what is there. It
   * holds all that was there at the call; what is added meanwhile may be in it or not.
   */
  snapshot(projectId: string, directory: string): Promise<void>;
  /**
   * Opens a project from its snapshot. False when there is none; rejects when it is damaged or of
   * another format.
   */
  restore(projectId: string, directory: string): Promise<boolean>;
  /** One entry a dimension; empty when the project is not open. */
  stats(projectId: string): readonly IndexPart[];
}

/** Sends a message of an index to its subscriber on the main thread. Buffers may be shared. */
export type Publish = (message: unknown) => void;
