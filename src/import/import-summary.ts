/** The results of an import. */
export interface ImportSummary {
  /** Imported records by kind; empty after a strict import with a rejected record. */
  readonly imported: ReadonlyMap<string, number>;
  /** References to the projects with records of files, environments and releases. */
  readonly projects: ReadonlySet<string>;
  readonly rejected: number;
  /** Rows that were inserted, updated or deleted. 0 if all records were already stored. */
  readonly changed: number;
  /** Records that were read. */
  readonly records: number;
  /** Records that were not stored as they are before. */
  readonly changedRecords: number;
}
