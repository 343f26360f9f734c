/** The parts of an element that are read here. */
export interface TableNode {
  readonly nodeName: string;
  readonly parentNode: TableNode | null;
  readonly firstChild: TableNode | null;
  readonly nextSibling: TableNode | null;
  getAttribute?(name: string): string | null;
}

/** Elements that a cell of a table in Markdown cannot hold. A table with one of them lays out a page. */
const NO_CELL_TEXT = /^(?:TABLE|PRE|UL|OL|DL|BLOCKQUOTE|HR|H[1-6])$/;
const CELL = /^T[DH]$/;
/** More columns than that are of no table that is read. */
const COLUMNS_MAX = 100;

/** The first rows of the tables that become tables in Markdown; null for others. Each table is walked through once. */
const known = new WeakMap<TableNode, TableNode | null>();

/** Whether a table has two rows and columns of texts, and becomes a table in Markdown. */
export function isDataTable(table: TableNode): boolean {
  return headOf(table) !== null;
}

function headOf(table: TableNode): TableNode | null {
  const found = known.get(table);
  if (found !== undefined) return found;
  const head = table.getAttribute?.("role") === "presentation" ? null : findHead(table);
  known.set(table, head);
  return head;
}

/** The first row of a table of texts. The walk ends at the first element of another kind: tables may be in each other. */
function findHead(table: TableNode): TableNode | null {
  let head: TableNode | null = null;
  let [rows, cells] = [0, 0];
  for (let at = table.firstChild; at !== null; at = following(at, table)) {
    if (NO_CELL_TEXT.test(at.nodeName)) return null;
    if (CELL.test(at.nodeName)) cells++;
    else if (at.nodeName === "TR") {
      rows++;
      head ??= at;
    }
  }
  return rows > 1 && cells > rows ? head : null;
}

/** The node after another one in the order of the document; null after the last one below the root. */
function following(node: TableNode, root: TableNode): TableNode | null {
  if (node.firstChild !== null) return node.firstChild;
  for (let at: TableNode | null = node; at !== null && at !== root; at = at.parentNode) {
    if (at.nextSibling !== null) return at.nextSibling;
  }
  return null;
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
  if (table === undefined || headOf(table) !== node) return row;
  const columns = own.replaceAll("\\|", "").split("|").length - 1;
  return `${row}\n|${" --- |".repeat(columns)}`;
}
