/** The project is closed, or must not be written any more: its indexer ends. */
export class IndexingEnded extends Error {}

/** Where the file versions and scopes of one project go: indexes in memory, or tables. */
export interface ProjectSink {
  /** How many calls of `add` may run at once. */
  readonly slicesAtOnce: number;
  /** Slices of announced versions that one step adds at most. */
  readonly announcedSlices: number;
  /** Runs a step of the indexer, and nothing else of the project beside it. */
  exclusively(step: () => Promise<void>): Promise<void>;
  /** Those of the versions that have to be added before the scope can hold them, if one is named. */
  unknown(versions: readonly string[], scopeId?: string): string[] | Promise<string[]>;
  /** Limits what many projects do at once, if this is a part of much. */
  limited<T>(isBulk: boolean, work: () => Promise<T>): Promise<T>;
  add(versions: readonly string[]): Promise<void>;
  /** Versions have got embeddings since they were added: those that are known become unknown. */
  readAgain(versions: readonly string[]): void | Promise<void>;
  /** Makes a scope hold exactly these versions, whose unknown ones were added. Throws UnknownVersion. */
  setScope(scopeId: string, versions: readonly string[]): void | Promise<void>;
  dropScope(scopeId: string): void | Promise<void>;
}
