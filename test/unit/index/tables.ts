import { numbersIn } from "../../../src/index/versions/number-set.ts";
import type { Members } from "../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../src/index/versions/version-table.ts";

/** A table that knows these versions, each with one chunk. */
export function tableOf(...ids: readonly string[]): VersionTable {
  const table = new VersionTable();
  addTo(table, ids);
  return table;
}

/** Adds versions to a table, each with one chunk, as if all indexes had them. */
export function addTo(table: VersionTable, ids: readonly string[]): void {
  for (const id of ids) table.append(id, [0]);
  table.added(ids);
}

/** Versions with all of their chunks. */
export function membersOf(table: VersionTable, ids: readonly string[]): Members {
  return { numbers: numbersIn(table.setOf(ids)), chunks: null };
}

/** Something that has scopes. */
interface Scoped {
  setScope(scopeId: string, members: Members): void;
}

/** Replaces a scope in the table and in an index of it. */
export function setScope(
  table: VersionTable,
  index: Scoped,
  scopeId: string,
  ids: readonly string[],
): void {
  index.setScope(scopeId, membersOf(table, ids));
  table.setScope(scopeId, table.setOf(ids));
}
