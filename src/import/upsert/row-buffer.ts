import type { Queryable } from "../../db/client.ts";
import type { KnownRow } from "./lookup.ts";
import {
  arrayLiteral,
  insertStatement,
  type SqlText,
  updateStatement,
  upsertStatement,
} from "./statements.ts";
import { TABLES, type Table } from "./tables.ts";

/** Rows and bytes of parameters per statement. */
const IMPORT_STATEMENT_ROWS = 2_000;
const IMPORT_STATEMENT_BYTES = 2_097_152;

interface Row {
  readonly isNew: boolean;
  readonly values: Record<string, SqlText>;
  /** Positions of the records that give the values. */
  readonly records: number[];
}

/** What writing a batch has changed. Rows of temporary tables do not count. */
interface Written {
  /** The number of inserted or changed rows. */
  rows: number;
  /** Positions of the records that they are from. */
  readonly records: Set<number>;
}

/** The rows of one batch. Putting a row twice merges both, and later values win. */
export class RowBuffer {
  readonly #tables = new Map<string, Map<string, Row>>();
  /** Position in the batch of the record whose rows are being put. */
  record = 0;

  /** `firstRecord` is the number of the batch's first record within the import. */
  constructor(private readonly firstRecord: number) {}

  /** `isNew` tells whether the row is not stored yet. Only tables of mode `lookup` use it. */
  put(table: string, key: string, isNew: boolean, values: Record<string, SqlText>): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    const earlier = rows.get(key);
    if (earlier === undefined) {
      rows.set(key, { isNew, values, records: [this.record] });
      return;
    }
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === null || value === earlier.values[name]) continue;
      earlier.values[name] = value;
      if (earlier.records.at(-1) !== this.record) earlier.records.push(this.record);
    }
  }

  /** Puts the row of a record, which has an id. */
  putRow(table: string, { id, isNew }: KnownRow, values: Record<string, SqlText>): void {
    this.put(table, id, isNew === true, { ...values, id });
  }

  /** Writes all rows. */
  async write(sql: Queryable): Promise<Written> {
    const written: Written = { rows: 0, records: new Set() };
    for (const table of TABLES) {
      const rows = this.#tables.get(table.name);
      if (rows === undefined) continue;
      const all = [...rows.values()];
      if (table.temporary) {
        this.#nameRecords(table, all, written.records);
        await writeSlices(sql, table, upsertStatement(table), all);
      } else if (table.mode === "lookup") {
        const isNew = Map.groupBy(all, (row) => row.isNew);
        count(written, await writeSlices(sql, table, insertStatement(table), isNew.get(true)));
        count(written, await writeSlices(sql, table, updateStatement(table), isNew.get(false)));
      } else {
        count(written, await writeSlices(sql, table, upsertStatement(table), all));
      }
    }
    return written;
  }

  /**
   * Staged rows of a scope name the record that has changed if the scope changes; none if the record
   * has changed anyway.
   */
  #nameRecords(table: Table, rows: readonly Row[], changed: ReadonlySet<number>): void {
    if (!table.columns.some(({ name }) => name === "record")) return;
    for (const { values, records } of rows) {
      const record = records.at(-1) as number;
      values["record"] = changed.has(record) ? null : String(this.firstRecord + record);
    }
  }
}

function count(written: Written, changed: readonly Row[]): void {
  written.rows += changed.length;
  for (const { records } of changed) for (const record of records) written.records.add(record);
}

/** The value of a row's key, as PostgreSQL returns it. */
function keyOf(table: Table, values: Readonly<Record<string, unknown>>): string {
  const parts = table.columns.slice(0, table.keyColumns).map(({ name, type }) => {
    const value = String(values[name]);
    return type === "uuid" ? value.toLowerCase() : value;
  });
  return parts.join(" ");
}

/** Runs a statement that returns the keys of the rows that it changes, and returns these rows. */
async function writeSlices(
  sql: Queryable,
  table: Table,
  statement: string,
  rows: readonly Row[] = [],
): Promise<Row[]> {
  const changed: Row[] = [];
  for (const slice of slices(rows)) {
    const parameters = table.columns.map(({ name }) =>
      arrayLiteral(slice.map((row) => row.values[name])),
    );
    const keys = await sql.unsafe<Record<string, unknown>[]>(statement, parameters, {
      prepare: true,
    });
    if (keys.length === slice.length) {
      changed.push(...slice);
      continue;
    }
    const written = new Set(keys.map((key) => keyOf(table, key)));
    changed.push(...slice.filter(({ values }) => written.has(keyOf(table, values))));
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
