import type { Sql } from "../src/db/client.ts";

/** What the quotas of a project count. */
interface Usage {
  readonly files: number;
  readonly bytes: number;
  readonly chunks: number;
}

/** What the quotas of a project have counted. */
export async function countedIn(sql: Sql, projectId: string): Promise<Usage> {
  const [row] = await sql<[Usage]>`
    SELECT files::float8 AS files, bytes::float8 AS bytes, chunks::float8 AS chunks
    FROM project_usage(${projectId})`;
  return { ...row };
}

/** How the rows of a table are told to be a project's, by the columns that the table has. */
const OF_PROJECT: readonly (readonly [column: string, condition: string])[] = [
  ["project_id", "project_id = $1"],
  ["conversation_id", "conversation_id IN (SELECT id FROM conversations WHERE project_id = $1)"],
  ["branch_id", "branch_id IN (SELECT id FROM branches WHERE project_id = $1)"],
  ["is_claimed", "id = $1"],
];

/** The tables that have rows of projects, and whether their rows are charged. */
export async function tablesOfProjects(sql: Sql) {
  const rows = await sql<{ name: string; columns: string[] }[]>`
    SELECT c.relname AS name, array_agg(a.attname::text) AS columns FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 1`;
  return rows.flatMap(({ name, columns }) => {
    const condition = OF_PROJECT.find(([column]) => columns.includes(column))?.[1];
    return condition ? [{ name, condition, charged: columns.includes("stored_bytes") }] : [];
  });
}

/** What the tables have of a project: the sums, and the bytes of each charged table. */
export async function storedIn(sql: Sql, projectId: string) {
  const tables = (await tablesOfProjects(sql)).filter(({ charged }) => charged);
  const sums = tables.map(
    ({ name, condition }) =>
      `SELECT '${name}' AS name, count(*)::float8 AS rows, coalesce(sum(stored_bytes), 0)::float8 AS bytes
      FROM ${name} WHERE ${condition}`,
  );
  const rows = await sql.unsafe<{ name: string; rows: number; bytes: number }[]>(
    sums.join(" UNION ALL "),
    [projectId],
  );
  const of = Object.fromEntries(rows.map((row) => [row.name, row]));
  const usage: Usage = {
    files: of["files"]?.rows ?? 0,
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    chunks: of["chunks"]?.rows ?? 0,
  };
  return { usage, tables: rows };
}

/** The bytes of a project that are stored and not counted: of rows that tests add and delete by statements. */
export async function uncountedIn(sql: Sql, projectId: string): Promise<number> {
  const { usage } = await storedIn(sql, projectId);
  return usage.bytes - (await countedIn(sql, projectId)).bytes;
}
