/**
 * SQL of a document as its caller wrote it, of the type json. Rows of earlier versions of the service have it as
 * jsonb only.
 *
 * @param column such as `metadata` or `c.metadata`
 */
export function writtenJson(column: string): string {
  return `coalesce(${column}_written, ${column}::json)`;
}

/** The same as a column under its own name. */
export function writtenColumn(column: string): string {
  return `${writtenJson(column)} AS ${column.slice(column.indexOf(".") + 1)}`;
}
