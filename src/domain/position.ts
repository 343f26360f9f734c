/**
 * A position in the change log of one database. The time distinguishes the log from one that was set back, to a backup
 * or to a standby without the last commits, and has grown past the same number since.
 */
export interface Position {
  /** The number of an entry; 0 for the beginning. */
  readonly seq: number;
  /** When that entry was written, as PostgreSQL prints it; "" for the beginning. */
  readonly at: string;
}
