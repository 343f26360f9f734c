/** The parts of an element that are read here. */
export interface TableNode {
  readonly nodeName: string;
  readonly parentNode: TableNode | null;
  readonly firstChild: TableNode | null;
  readonly nextSibling: TableNode | null;
  getAttribute?(name: string): string | null;
}

/** Elements that a cell of a table in Markdown cannot hold. A table with one of them lays out a page. */
const NO_CELL_TEXT = /^(?:TABLE|PRE|HR|H[1-6])$/;
/** The same in a table without a cell that is a heading. */
const LIST = /^(?:UL|OL|DL|BLOCKQUOTE)$/;
const CELL = /^T[DH]$/;
/** The columns and the rows that a cell spans at most, in tables that are read. */
const COLUMNS_MAX = 100;
const ROWS_MAX = 1_000;

/** Whether the tables that were looked at become tables in Markdown. Each table is walked through once. */
const known = new WeakMap<TableNode, boolean>();

/** Whether a table has two rows and columns of texts, and becomes a table in Markdown. */
export function isDataTable(table: TableNode): boolean {
  let isOne = known.get(table);
  if (isOne === undefined) {
    isOne = table.getAttribute?.("role") !== "presentation" && hasTexts(table);
    known.set(table, isOne);
  }
  return isOne;
}

/** Whether a table consists of texts. The walk ends at the first element of another kind: tables may be in each other. */
function hasTexts(table: TableNode): boolean {
  let [rows, cells] = [0, 0];
  let [hasList, isHeaded] = [false, false];
  for (let at = table.firstChild; at !== null; at = following(at, table)) {
    if (NO_CELL_TEXT.test(at.nodeName)) return false;
    if (CELL.test(at.nodeName)) cells++;
    else if (at.nodeName === "TR") rows++;
    hasList ||= LIST.test(at.nodeName);
    isHeaded ||= at.nodeName === "TH";
  }
  return rows > 1 && cells > rows && (isHeaded || !hasList);
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

/**
 * A table: its caption, and its rows on successive lines. The first row is the head, which Markdown requires, and is as
 * wide as the widest row, because Markdown shows no further columns.
 */
export function dataTable(content: string): string {
  const start = Math.max(0, content.indexOf("\n|"));
  const [head = "", ...rows] = content.slice(start).trim().split(/\n+/);
  const columns = rows.map(columnsOf).reduce((most, own) => Math.max(most, own), columnsOf(head));
  const whole = head + "  |".repeat(columns - columnsOf(head));
  const lines = [whole, `|${" --- |".repeat(columns)}`, ...rows].join("\n");
  return `\n\n${content.slice(0, start).trim()}\n\n${lines}\n\n`;
}

const columnsOf = (row: string) => row.replaceAll("\\|", "").split("|").length - 2;

/** A cell, and how many columns and rows it spans. */
interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

/** The cells of a row that have been read, and how many of the next rows a cell of a table still spans, by its column. */
const cellsOf = new WeakMap<TableNode, Cell[]>();
const spannedIn = new WeakMap<TableNode, number[]>();

/** Keeps a cell for its row. */
export function tableCell(text: string, node: TableNode): string {
  const row = node.parentNode as TableNode;
  const spanOf = (name: string, most: number) =>
    Math.min(Math.max(1, Math.trunc(Number(node.getAttribute?.(name) ?? 1)) || 1), most);
  const own = text.trim().replace(/\s+/g, " ").replaceAll("|", "\\|");
  const cells = cellsOf.get(row) ?? [];
  const [columns, rows] = [spanOf("colspan", COLUMNS_MAX), spanOf("rowspan", ROWS_MAX)];
  cells.push({ text: own, columns, rows });
  cellsOf.set(row, cells);
  return "";
}

/** A row, after its cells. */
export function tableRow(row: TableNode): string {
  const table = dataTableOf(row) as TableNode;
  const spanned = spannedIn.get(table) ?? [];
  spannedIn.set(table, spanned);
  const texts: string[] = [];
  // The place of a cell that reaches down from a row above is empty.
  const skip = () => {
    for (; (spanned[texts.length] ?? 0) > 0; texts.push("")) {
      spanned[texts.length] = (spanned[texts.length] as number) - 1;
    }
  };
  for (const { text, columns, rows } of cellsOf.get(row) ?? []) {
    skip();
    for (let i = 0; i < columns; i++) {
      spanned[texts.length] = rows - 1;
      texts.push(i === 0 ? text : "");
    }
  }
  skip();
  return `\n| ${texts.join(" | ")} |`;
}
