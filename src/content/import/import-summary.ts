import { noteChange } from "../../auth/audit/changes.ts";
import type { Queryable } from "../../db/client.ts";

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

/** Notes an import in the audit log, once per project. An import that stores nothing is noted, too. */
export async function noteImport(
  sql: Queryable,
  projects: ReadonlySet<string>,
  { strict }: { readonly strict: boolean },
  { records, changedRecords, rejected }: ImportSummary,
): Promise<void> {
  const unchanged = records - changedRecords - rejected;
  const counts = { lines: records, changed: changedRecords, unchanged, refused: rejected };
  await noteChange(sql, "import", [...projects], { strict, ...counts });
}
