import type { Queryable } from "../../db/client.ts";
import { IMPORT_STATEMENT_BYTES, IMPORT_STATEMENT_ROWS } from "../../shared/limits.ts";
import { type Column, TABLES, type Table } from "./tables.ts";

/** A value as PostgreSQL reads it from text; undefined where the record leaves the field out. */
export type Value = string | null | undefined;

interface Row {
  readonly fresh: boolean;
  readonly values: Record<string, Value>;
}

/** The rows of one batch. A row that is put twice is one row, and its later values count. */
export class Rows {
  readonly #tables = new Map<string, Map<string, Row>>();

  /** `fresh` says that the row does not exist yet; it matters for tables of mode `known` alone. */
  put(table: string, key: string, fresh: boolean, values: Record<string, Value>): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    const earlier = rows.get(key);
    if (earlier === undefined) {
      rows.set(key, { fresh, values });
      return;
    }
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined && value !== null) earlier.values[name] = value;
    }
  }

  /** Writes everything and returns how many rows were inserted or changed. */
  async write(sql: Queryable): Promise<number> {
    let changed = 0;
    for (const table of TABLES as readonly Table[]) {
      const rows = this.#tables.get(table.name);
      if (rows === undefined) continue;
      const all = [...rows.values()];
      if (table.mode !== "known") {
        const count = await writeSlices(sql, table, upsertStatement(table), all);
        if (!table.staging) changed += count;
        continue;
      }
      const fresh = all.filter((row) => row.fresh);
      const existing = all.filter((row) => !row.fresh);
      changed += await writeSlices(sql, table, insertStatement(table), fresh);
      changed += await writeSlices(sql, table, updateStatement(table), existing);
    }
    return changed;
  }
}

/** A PostgreSQL array literal. */
export function arrayLiteral(items: readonly Value[]): string {
  const parts = items.map((item) =>
    item === null || item === undefined
      ? "NULL"
      : `"${/["\\]/.test(item) ? item.replace(/["\\]/g, "\\$&") : item}"`,
  );
  return `{${parts.join(",")}}`;
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

function readOf(column: Column): string {
  return column.read ?? `u."${column.name}"::${column.type}`;
}

function unnest(table: Table): string {
  const parameters = table.columns.map((_, i) => `$${i + 1}::text[]`).join(", ");
  return `unnest(${parameters}) u (${names(table)})`;
}

function names(table: Table): string {
  return table.columns.map(({ name }) => `"${name}"`).join(", ");
}

function insertStatement(table: Table): string {
  const values = table.columns.map((column) =>
    column.fallback === undefined
      ? readOf(column)
      : `coalesce(${readOf(column)}, ${column.fallback})`,
  );
  return `INSERT INTO ${table.name} (${names(table)})
    SELECT ${values.join(", ")} FROM ${unnest(table)}`;
}

/** Sets what the records give, and touches only rows that differ from it. */
function updateStatement(table: Table): string {
  const rest = table.columns.slice(table.keyColumns);
  const values = rest.map((column) =>
    column.grows
      ? `greatest(t."${column.name}", ${readOf(column)})`
      : `coalesce(${readOf(column)}, t."${column.name}")`,
  );
  const assignments = rest.map(({ name }, i) => `"${name}" = ${values[i]}`);
  if (table.onChange !== undefined) assignments.push(table.onChange);
  const key = table.columns[0] as Column;
  const differs = rest.map(({ name, type }, i) => {
    // json has no equality; its text is as good, since it is kept as it was written.
    const as = type === "json" ? "::text" : "";
    return `(t."${name}")${as} IS DISTINCT FROM (${values[i]})${as}`;
  });
  return `UPDATE ${table.name} t SET ${assignments.join(", ")} FROM ${unnest(table)}
    WHERE t."${key.name}" = ${readOf(key)} AND ${table.updateWhen ?? "true"}
      AND (${differs.join(" OR ")})`;
}

function upsertStatement(table: Table): string {
  const keys = table.columns.slice(0, table.keyColumns).map(({ name }) => `"${name}"`);
  const rest = table.columns.slice(table.keyColumns).map(({ name }) => `"${name}"`);
  if (table.mode === "once") return `${insertStatement(table)} ON CONFLICT DO NOTHING`;
  const assignments = rest.map((name) => `${name} = excluded.${name}`);
  const differs = rest.map((name) => `t.${name} IS DISTINCT FROM excluded.${name}`);
  return `${insertStatement(table).replace(table.name, `${table.name} AS t`)}
    ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${assignments.join(", ")}
    WHERE ${differs.join(" OR ")}`;
}
