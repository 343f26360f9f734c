import type { Queryable } from "../../../db/client.ts";
import type { Charging } from "../../../db/quotas.ts";

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

/** How the row `t` of a table names its project, by the columns that the table has. */
const PROJECTS: readonly (readonly [column: string, project: string])[] = [
  ["project_id", "t.project_id"],
  ["conversation_id", "(SELECT project_id FROM conversations WHERE id = t.conversation_id)"],
  ["branch_id", "(SELECT project_id FROM branches WHERE id = t.branch_id)"],
  ["is_claimed", "t.id"],
];

/** SQL for `RETURNING` the charges of written rows `t`; null for a table whose rows are not charged. */
async function chargedOf(sql: Queryable, table: string, bytes = "t.stored_bytes") {
  const names = new Set((await columnsOf(sql, table)).map(({ name }) => name));
  if (!names.has("stored_bytes")) return null;
  const project = PROJECTS.find(([column]) => names.has(column))?.[1];
  return `${project} AS project, ${bytes} AS bytes`;
}

/** A row that was written, or several of a project. */
interface Written {
  readonly key: string | null;
  /** Null for rows that belong to no project; absent for those that are not charged. */
  readonly project?: string | null;
  readonly bytes: number;
  /** The number of added rows. */
  readonly added: number;
}

interface Statement {
  readonly table: string;
  readonly statement: string;
  readonly prepare: boolean;
}

/**
 * Runs a statement with the values of rows as arrays, in slices, and adds the written rows to the charges. It is prepared
 * if all rows of its table have the same columns: records choose among theirs, and a session would keep a statement for
 * each choice.
 */
async function run(
  { sql, charges }: Charging,
  { table, statement, prepare }: Statement,
  columns: readonly Column[],
  rows: readonly Values[],
): Promise<Written[]> {
  const written: Written[] = [];
  for (const slice of slices(rows)) {
    const arrays = columns.map(({ name }) => arrayLiteral(slice.map((row) => row[name])));
    written.push(...(await sql.unsafe<Written[]>(statement, arrays, { prepare })));
  }
  for (const { project, bytes, added } of written) {
    if (!project) continue;
    const files = table === "files" ? added : 0;
    const chunks = table === "chunks" ? added : 0;
    charges.add(project, { files, bytes, chunks });
  }
  return written;
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
 * get their default. Returns the keys of the written rows, if one is given.
 *
 * @param conflict SQL of ON CONFLICT; without it, rows that exist make the statement fail
 * @param key SQL on the row `t`
 * @param prepare true for a table whose rows always have the same columns
 */
export async function insertRows(
  writer: Charging,
  table: string,
  rows: readonly Values[],
  {
    conflict = "",
    key,
    prepare = false,
  }: { readonly conflict?: string; readonly key?: string; readonly prepare?: boolean } = {},
): Promise<Written[]> {
  if (rows.length === 0) return [];
  const { sql } = writer;
  const columns = await givenColumns(sql, table, rows);
  const charged = await chargedOf(sql, table);
  const values = columns.map((column) =>
    column.fallback === null ? read(column) : `coalesce(${read(column)}, ${column.fallback})`,
  );
  const insert = `INSERT INTO ${table} AS t (${namesOf(columns)})
    SELECT ${values.join(", ")} FROM ${given(columns)} ${conflict}`;
  const returned = [key && `${key} AS key, 1 AS added`, charged].filter(Boolean).join(", ");
  // Only their sums are needed of rows without a key.
  const statement = !returned
    ? insert
    : key
      ? `${insert} RETURNING ${returned}`
      : `WITH written AS (${insert} RETURNING ${returned})
        SELECT project, sum(bytes)::float8 AS bytes, count(*)::integer AS added FROM written GROUP BY project`;
  return await run(writer, { table, statement, prepare }, columns, rows);
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
  /** True if the row has the time of its last change. */
  readonly isTimed?: boolean;
}

/** True if a row may keep stored values, so that two records of it cannot be merged before they are written. */
export const dependsOnStored = ({ greatest, updateWhen }: UpdateRules = {}) =>
  greatest !== undefined || updateWhen !== undefined;

/** Changes the fields that rows give, in those where they differ. Returns the ids of the changed rows. */
async function updateRows(
  writer: Charging,
  table: string,
  rows: readonly Values[],
  { greatest = [], updateWhen = "true", isTimed = false }: UpdateRules,
): Promise<Written[]> {
  if (rows.length === 0) return [];
  const { sql } = writer;
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
  const charged = await chargedOf(sql, table, "t.stored_bytes - c.stored_bytes");
  const returned = ["t.id::text AS key, 0 AS added", charged].filter(Boolean).join(", ");
  const statement = `WITH changing AS (
      SELECT t.* FROM ${table} t JOIN ${given(columns)} ON t.id = ${read(id)}
      WHERE ${updateWhen} AND (${changes.map(({ differs }) => differs).join(" OR ")})
      ORDER BY t.id FOR NO KEY UPDATE OF t)
    UPDATE ${table} t SET ${assignments.join(", ")} FROM ${given(columns)} JOIN changing c ON c.id = ${read(id)}
    WHERE t.id = c.id AND ${updateWhen} RETURNING ${returned}`;
  return await run(writer, { table, statement, prepare: false }, columns, rows);
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
   * Inserts rows that may exist. Returns the inserted and changed ones.
   *
   * @param on in SQL, the action for a row that exists, and the key under which the row was put
   */
  async upsert(
    writer: Charging,
    table: string,
    on: { readonly conflict: string; readonly key: string },
  ): Promise<Row[]> {
    const values = this.sorted().map((row) => row.values);
    const changed = await insertRows(writer, table, values, on);
    return changed.map(({ key }) => this.#rows.get(key as string) as Row);
  }

  /** Writes rows whose key is their id. Returns those that were new or have changed. */
  async write(writer: Charging, table: string, rules: UpdateRules = {}): Promise<Row[]> {
    const { fresh = [], stored = [] } = Object.groupBy(this.sorted(), ({ isNew }) =>
      isNew ? "fresh" : "stored",
    );
    const given = (row: Row) => row.values;
    await insertRows(writer, table, fresh.map(given));
    const changed = await updateRows(writer, table, stored.map(given), rules);
    const ids = new Set(changed.map(({ key }) => key));
    return [...fresh, ...stored.filter(({ values }) => ids.has(values["id"] as string))];
  }
}
