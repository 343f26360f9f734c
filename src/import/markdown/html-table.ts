/** The parts of an element that are read here. */
export interface TableNode {
  readonly nodeName: string;
  readonly parentNode: TableNode | null;
  getElementsByTagName?(name: string): ArrayLike<TableNode>;
  getAttribute?(name: string): string | null;
}

/** Elements that a cell of a table in Markdown cannot hold. A table with one of them lays out a page. */
const NO_CELL_TEXT = [
  "table",
  "pre",
  "ul",
  "ol",
  "dl",
  "blockquote",
  "hr",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
];
/** More columns than that are of no table that is read. */
const COLUMNS_MAX = 100;

const known = new WeakMap<TableNode, boolean>();

/** Whether a table has two rows and columns of texts, and becomes a table in Markdown. */
export function isDataTable(table: TableNode): boolean {
  const found = known.get(table);
  if (found !== undefined) return found;
  const count = (name: string) => table.getElementsByTagName?.(name).length ?? 0;
  const rows = count("tr");
  const isData =
    rows > 1 &&
    count("td") + count("th") > rows &&
    table.getAttribute?.("role") !== "presentation" &&
    NO_CELL_TEXT.every((name) => count(name) === 0);
  known.set(table, isData);
  return isData;
}

/** The table that an element is a part of; undefined outside of one that becomes a table in Markdown. */
export function dataTableOf(node: TableNode): TableNode | undefined {
  for (let at = node.parentNode; at !== null; at = at.parentNode) {
    if (at.nodeName === "TABLE") return isDataTable(at) ? at : undefined;
  }
  return undefined;
}

/** A table: its caption, and its rows on lines that follow each other. */
export function dataTable(content: string): string {
  const start = Math.max(0, content.indexOf("\n|"));
  const rows = content.slice(start).replace(/\n{2,}/g, "\n");
  return `\n\n${content.slice(0, start).trim()}\n\n${rows.trim()}\n\n`;
}

/** A cell, which spans several columns where its attribute says so. */
export function tableCell(text: string, node: TableNode): string {
  const span = Math.min(Number(node.getAttribute?.("colspan") ?? 1) || 1, COLUMNS_MAX);
  const own = text.trim().replace(/\s+/g, " ").replaceAll("|", "\\|");
  return ` ${own} |${"  |".repeat(Math.max(0, span - 1))}`;
}

/** A row. The first one is the head of the table, because Markdown has no table without. */
export function tableRow(cells: string, node: TableNode): string {
  const own = cells.replace(/\n/g, "");
  const row = `\n|${own}`;
  const table = dataTableOf(node);
  if (table?.getElementsByTagName?.("tr")[0] !== node) return row;
  const columns = own.replaceAll("\\|", "").split("|").length - 1;
  return `${row}\n|${" --- |".repeat(columns)}`;
}
