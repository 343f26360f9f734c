/** The project is closed or no longer writable: its indexer ends. */
export class IndexingEnded extends Error {}

/** Where the file versions and scopes of one project go: indexes in memory, or tables. */
export interface ProjectSink {
  /** Maximum number of concurrent calls of `add`. */
  readonly slicesAtOnce: number;
  /** Slices of announced versions that one step adds at most. */
  readonly announcedSlices: number;
  /** Runs a step of the indexer. No other work of the project runs meanwhile. */
  exclusively(step: () => Promise<void>): Promise<void>;
  /** The versions that must be added before the scope, if it is given, can hold them. */
  unknown(versions: readonly string[], scopeId?: string): string[] | Promise<string[]>;
  /** Limits the concurrent work of many projects, if `isBulk`. */
  limited<T>(isBulk: boolean, work: () => Promise<T>): Promise<T>;
  add(versions: readonly string[]): Promise<void>;
  /** Versions have got embeddings since they were added: those that are known become unknown. */
  readAgain(versions: readonly string[]): void | Promise<void>;
  /** Makes a scope hold exactly these versions, whose unknown ones were added. Throws UnknownVersion. */
  setScope(scopeId: string, versions: readonly string[]): void | Promise<void>;
  dropScope(scopeId: string): void | Promise<void>;
}
