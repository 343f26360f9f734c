import type { Column, Table } from "./tables.ts";

/** A value in PostgreSQL's text format; undefined if the record does not give the field. */
export type SqlText = string | null | undefined;

/** A PostgreSQL array literal. */
export function arrayLiteral(items: readonly SqlText[]): string {
  const parts = items.map((item) =>
    item === null || item === undefined
      ? "NULL"
      : `"${/["\\]/.test(item) ? item.replace(/["\\]/g, "\\$&") : item}"`,
  );
  return `{${parts.join(",")}}`;
}

/** Documents of a caller as columns, as they are written. */
export function documentColumns<N extends string>(
  documents: Readonly<Record<N, unknown>>,
): Record<N, SqlText> {
  const columns: Record<string, SqlText> = {};
  for (const [name, value] of Object.entries(documents)) {
    if (value !== undefined) columns[name] = JSON.stringify(value);
  }
  return columns as Record<N, SqlText>;
}

function readColumn(column: Column): string {
  return column.read ?? `u."${column.name}"::${column.type}`;
}

function unnestParameters(table: Table): string {
  const parameters = table.columns.map((_, i) => `$${i + 1}::text[]`).join(", ");
  return `unnest(${parameters}) u (${columnNames(table)})`;
}

function columnNames(table: Table): string {
  return table.columns.map(({ name }) => `"${name}"`).join(", ");
}

/** Returns the keys of the rows that the statement has inserted or changed. */
function returning(table: Table): string {
  const keys = table.columns.slice(0, table.keyColumns).map(({ name }) => `t."${name}"`);
  return `RETURNING ${keys.join(", ")}`;
}

/** Inserts rows that are known not to exist. */
export function insertStatement(table: Table): string {
  return `${insertInto(table)} ${returning(table)}`;
}

function insertInto(table: Table): string {
  const values = table.columns.map((column) =>
    column.fallback === undefined
      ? readColumn(column)
      : `coalesce(${readColumn(column)}, ${column.fallback})`,
  );
  return `INSERT INTO ${table.name} AS t (${columnNames(table)})
    SELECT ${values.join(", ")} FROM ${unnestParameters(table)}`;
}

/** The text of JSON without the space between its tokens, which deliveries of webhooks have. */
function withoutSpace(json: string): string {
  return String.raw`regexp_replace(${json}::text, '("(?:[^"\\]|\\.)*")|\s+', '\1', 'g')`;
}

/** Updates the fields that the records give, in rows where they differ. */
export function updateStatement(table: Table): string {
  const rest = table.columns.slice(table.keyColumns);
  const values = rest.map((column) =>
    column.monotonic
      ? `greatest(t."${column.name}", ${readColumn(column)})`
      : `coalesce(${readColumn(column)}, t."${column.name}")`,
  );
  const assignments = rest.map(({ name }, i) => `"${name}" = ${values[i]}`);
  if (table.onChange !== undefined) assignments.push(table.onChange);
  const key = table.columns[0] as Column;
  const differs = rest.map(({ name, type }, i) => {
    const stored = `t."${name}"`;
    const given = `(${values[i]})`;
    // The type json has no equality operator. It preserves its text, so that can be compared.
    if (type !== "json") return `${stored} IS DISTINCT FROM ${given}`;
    return `${withoutSpace(stored)} IS DISTINCT FROM ${withoutSpace(given)}`;
  });
  return `UPDATE ${table.name} t SET ${assignments.join(", ")} FROM ${unnestParameters(table)}
    WHERE t."${key.name}" = ${readColumn(key)} AND ${table.updateWhen ?? "true"}
      AND (${differs.join(" OR ")}) ${returning(table)}`;
}

/** Inserts rows, and updates or ignores those that exist. */
export function upsertStatement(table: Table): string {
  const keys = table.columns.slice(0, table.keyColumns).map(({ name }) => `"${name}"`);
  const rest = table.columns.slice(table.keyColumns).map(({ name }) => `"${name}"`);
  if (table.mode === "insert-only")
    return `${insertInto(table)} ON CONFLICT DO NOTHING ${returning(table)}`;
  const assignments = rest.map((name) => `${name} = excluded.${name}`);
  const differs = rest.map((name) => `t.${name} IS DISTINCT FROM excluded.${name}`);
  return `${insertInto(table)}
    ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${assignments.join(", ")}
    WHERE ${differs.join(" OR ")} ${returning(table)}`;
}
