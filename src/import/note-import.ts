import { noteChange } from "../audit/changes.ts";
import type { Queryable } from "../db/client.ts";
import type { ImportSummary } from "./import-summary.ts";

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
