import type { Queryable } from "../../db/client.ts";
import { IMPORT_STATEMENT_BYTES, IMPORT_STATEMENT_ROWS } from "../../shared/limits.ts";
import {
  arrayLiteral,
  insertStatement,
  type SqlText,
  updateStatement,
  upsertStatement,
} from "./statements.ts";
import { TABLES, type Table } from "./tables.ts";

interface Row {
  readonly isNew: boolean;
  readonly values: Record<string, SqlText>;
}

/** The rows of one batch. Putting a row twice merges both, and later values win. */
export class RowBuffer {
  readonly #tables = new Map<string, Map<string, Row>>();

  /** `isNew` tells whether the row is not stored yet. Only tables of mode `lookup` use it. */
  put(table: string, key: string, isNew: boolean, values: Record<string, SqlText>): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    const earlier = rows.get(key);
    if (earlier === undefined) {
      rows.set(key, { isNew, values });
      return;
    }
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined && value !== null) earlier.values[name] = value;
    }
  }

  /** Writes all rows and returns how many were inserted or changed. */
  async write(sql: Queryable): Promise<number> {
    let changed = 0;
    for (const table of TABLES) {
      const rows = this.#tables.get(table.name);
      if (rows === undefined) continue;
      const all = [...rows.values()];
      if (table.mode !== "lookup") {
        const count = await writeSlices(sql, table, upsertStatement(table), all);
        if (!table.temporary) changed += count;
        continue;
      }
      const added = all.filter((row) => row.isNew);
      const existing = all.filter((row) => !row.isNew);
      changed += await writeSlices(sql, table, insertStatement(table), added);
      changed += await writeSlices(sql, table, updateStatement(table), existing);
    }
    return changed;
  }
}

async function writeSlices(
  sql: Queryable,
  table: Table,
  statement: string,
  rows: readonly Row[],
): Promise<number> {
  let changed = 0;
  for (const slice of slices(rows)) {
    const parameters = table.columns.map(({ name }) =>
      arrayLiteral(slice.map((row) => row.values[name])),
    );
    changed += (await sql.unsafe(statement, parameters, { prepare: true })).count;
  }
  return changed;
}

function* slices(rows: readonly Row[]): Generator<Row[]> {
  let slice: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    slice.push(row);
    for (const name in row.values) bytes += row.values[name]?.length ?? 0;
    if (slice.length >= IMPORT_STATEMENT_ROWS || bytes >= IMPORT_STATEMENT_BYTES) {
      yield slice;
      slice = [];
      bytes = 0;
    }
  }
  if (slice.length > 0) yield slice;
}
