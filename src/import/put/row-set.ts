import type { Queryable } from "../../db/client.ts";

/** Rows and bytes of parameters per statement. */
const IMPORT_STATEMENT_ROWS = 2_000;
const IMPORT_STATEMENT_BYTES = 2_097_152;

/** A value as text: bytes as base64, lists and documents as JSON; undefined if the record does not give the field. */
type SqlText = string | null | undefined;
export type Values = Record<string, SqlText>;

/** The fields of a record as values. Those that its table has no column for are ignored. */
function valuesOf(fields: Readonly<Record<string, unknown>>): Values {
  const entries = Object.entries(fields).map(([name, field]) => {
    if (typeof field === "string" || field === null || field === undefined) return [name, field];
    return [name, JSON.stringify(field)];
  });
  return Object.fromEntries(entries);
}

/** A PostgreSQL array literal. */
function arrayLiteral(items: readonly SqlText[]): string {
  const parts = items.map((item) =>
    item === null || item === undefined
      ? "NULL"
      : `"${/["\\]/.test(item) ? item.replace(/["\\]/g, "\\$&") : item}"`,
  );
  return `{${parts.join(",")}}`;
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** SQL of the default; null without one. */
  readonly fallback: string | null;
}

/** The columns of tables as the database describes them, which stay as they are while this process runs. */
const CATALOGUE = new Map<string, readonly Column[]>();

async function columnsOf(sql: Queryable, table: string): Promise<readonly Column[]> {
  let columns = CATALOGUE.get(table);
  if (columns === undefined) {
    columns = await sql<Column[]>`
      SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
        pg_get_expr(d.adbin, d.adrelid) AS fallback
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = ${table}::text::regclass AND a.attnum > 0 AND NOT a.attisdropped`;
    CATALOGUE.set(table, columns);
  }
  return columns;
}

function read({ name, type }: Column): string {
  if (type === "bytea") return `decode(u."${name}", 'base64')`;
  if (type !== "text[]") return `u."${name}"::${type}`;
  const list = `ARRAY (SELECT json_array_elements_text(u."${name}"::json))`;
  return `CASE WHEN u."${name}" IS NOT NULL THEN ${list} END`;
}

function given(columns: readonly Column[]): string {
  const arrays = columns.map((_, i) => `$${i + 1}::text[]`).join(", ");
  return `unnest(${arrays}) u (${namesOf(columns)})`;
}

const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => `"${name}"`).join(", ");

/**
 * Runs a statement with the values of rows as arrays, in slices. It is prepared if all rows of its table have the same
 * columns: records choose among theirs, and a session would keep a statement for each choice.
 */
async function run<Found extends object>(
  sql: Queryable,
  statement: string,
  {
    columns,
    rows,
    prepare,
  }: { columns: readonly Column[]; rows: readonly Values[]; prepare: boolean },
): Promise<Found[]> {
  const found: Found[] = [];
  for (const slice of slices(rows)) {
    const arrays = columns.map(({ name }) => arrayLiteral(slice.map((row) => row[name])));
    found.push(...(await sql.unsafe<Found[]>(statement, arrays, { prepare })));
  }
  return found;
}

function* slices(rows: readonly Values[]): Generator<Values[]> {
  let slice: Values[] = [];
  let bytes = 0;
  for (const row of rows) {
    slice.push(row);
    for (const name in row) bytes += row[name]?.length ?? 0;
    if (slice.length >= IMPORT_STATEMENT_ROWS || bytes >= IMPORT_STATEMENT_BYTES) {
      yield slice;
      slice = [];
      bytes = 0;
    }
  }
  if (slice.length > 0) yield slice;
}

async function givenColumns(sql: Queryable, table: string, rows: readonly Values[]) {
  const names = new Set<string>();
  for (const row of rows) for (const name in row) names.add(name);
  return (await columnsOf(sql, table)).filter(({ name }) => names.has(name));
}

/**
 * Inserts rows in this order, which all writers keep: that of their natural keys. Columns that a row does not give
 * get their default.
 *
 * @param conflict SQL about rows that exist; without it, they make the statement fail
 * @param prepare true for a table whose rows always have the same columns
 */
export async function insertRows<Found extends object>(
  sql: Queryable,
  table: string,
  rows: readonly Values[],
  conflict = "",
  prepare = false,
): Promise<Found[]> {
  if (rows.length === 0) return [];
  const columns = await givenColumns(sql, table, rows);
  const values = columns.map((column) =>
    column.fallback === null ? read(column) : `coalesce(${read(column)}, ${column.fallback})`,
  );
  const statement = `INSERT INTO ${table} AS t (${namesOf(columns)})
    SELECT ${values.join(", ")} FROM ${given(columns)} ${conflict}`;
  return await run<Found>(sql, statement, { columns, rows, prepare });
}

/** The text of JSON without the space between its tokens, which deliveries of webhooks have. */
function withoutSpace(json: string): string {
  return String.raw`regexp_replace(${json}::text, '("(?:[^"\\]|\\.)*")|\s+', '\1', 'g')`;
}

export interface UpdateRules {
  /** Counters and times that never decrease: the larger value stays. */
  readonly greatest?: readonly string[];
  /** SQL condition on the row `t` under which it may be changed. */
  readonly updateWhen?: string;
  /** True if the row tells when it was changed. */
  readonly isTimed?: boolean;
}

/** Changes the fields that rows give, in those where they differ. Returns the ids of the changed rows. */
async function updateRows(
  sql: Queryable,
  table: string,
  rows: readonly Values[],
  { greatest = [], updateWhen = "true", isTimed = false }: UpdateRules,
): Promise<{ id: string }[]> {
  if (rows.length === 0) return [];
  const columns = await givenColumns(sql, table, rows);
  const id = columns.find(({ name }) => name === "id") as Column;
  const rest = columns.filter((column) => column !== id);
  const changes = rest.map((column) => {
    const { name, type } = column;
    const rule = greatest.includes(name) ? "greatest" : "coalesce";
    const value = `${rule}(${read(column)}, t."${name}")`;
    // The type json has no equality operator. It preserves its text, so that can be compared.
    const compared = type === "json" ? withoutSpace : (text: string) => text;
    const differs = `${compared(`t."${name}"`)} IS DISTINCT FROM ${compared(value)}`;
    return { differs, assignment: `"${name}" = ${value}` };
  });
  if (changes.length === 0) return [];
  const assignments = changes.map(({ assignment }) => assignment);
  if (isTimed) assignments.push("updated_at = now()");
  const statement = `WITH changing AS (
      SELECT t.id FROM ${table} t JOIN ${given(columns)} ON t.id = ${read(id)}
      WHERE ${updateWhen} AND (${changes.map(({ differs }) => differs).join(" OR ")})
      ORDER BY t.id FOR NO KEY UPDATE OF t)
    UPDATE ${table} t SET ${assignments.join(", ")} FROM ${given(columns)} JOIN changing c ON c.id = ${read(id)}
    WHERE t.id = c.id AND ${updateWhen} RETURNING t.id::text AS id`;
  return await run(sql, statement, { columns, rows, prepare: false });
}

export interface Row {
  readonly isNew: boolean;
  readonly values: Values;
  /** The records that give the values. */
  readonly lines: number[];
}

/** Rows that records make. Putting a row twice merges both, and later values win. */
export class RowSet {
  readonly #rows = new Map<string, Row>();

  put(key: string, isNew: boolean, fields: Readonly<Record<string, unknown>>, line: number): void {
    const values = valuesOf(fields);
    const earlier = this.#rows.get(key);
    if (earlier === undefined) {
      this.#rows.set(key, { isNew, values, lines: [line] });
      return;
    }
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === null || value === earlier.values[name]) continue;
      earlier.values[name] = value;
      if (earlier.lines.at(-1) !== line) earlier.lines.push(line);
    }
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** The rows in the order of their keys. */
  sorted(): Row[] {
    const rows = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1));
    return rows.map(([, row]) => row);
  }

  /**
   * Inserts rows that may exist. Returns those that have changed something.
   *
   * @param conflict SQL that says what becomes of a row that exists, and returns the keys of changed ones
   */
  async upsert(sql: Queryable, table: string, conflict: string): Promise<Row[]> {
    const values = this.sorted().map((row) => row.values);
    const changed = await insertRows<{ key: string }>(sql, table, values, conflict);
    return changed.map(({ key }) => this.#rows.get(key) as Row);
  }

  /** Writes rows whose key is their id. Returns those that were new or have changed. */
  async write(sql: Queryable, table: string, rules: UpdateRules = {}): Promise<Row[]> {
    const { fresh = [], stored = [] } = Object.groupBy(this.sorted(), ({ isNew }) =>
      isNew ? "fresh" : "stored",
    );
    const given = (row: Row) => row.values;
    await insertRows(sql, table, fresh.map(given));
    const changed = await updateRows(sql, table, stored.map(given), rules);
    const ids = new Set(changed.map(({ id }) => id));
    return [...fresh, ...stored.filter(({ values }) => ids.has(values["id"] as string))];
  }
}
