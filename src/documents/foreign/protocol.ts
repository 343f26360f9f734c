/** The task of a process that reads files in formats of others. */
export type Task = DocumentTask | RowsTask;

export interface Order {
  readonly task: Task;
  /** The memory that the process may take for it. */
  readonly maxBytes: number;
}

interface DocumentTask {
  readonly kind: "document";
  /** Absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly path: string;
}

interface RowsTask {
  readonly kind: "rows";
  /** Absolute. */
  readonly file: string;
  /** The first row, from 0. */
  readonly start: number;
}

/** Some rows of a table, and how many it has. */
export interface TableRows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly of: number;
}

/** The text of a document as it is stored, and sentences that name the rest of the document. */
export interface DocumentText {
  readonly text: string;
  /** Without their subject, which is the document: `has 2 charts, which are left out`. */
  readonly leftOut: readonly string[];
}

export type Result<T extends Task> = T extends RowsTask ? TableRows : DocumentText;

export type Answer =
  | { readonly ready: true }
  | { readonly result: DocumentText | TableRows }
  | { readonly reason: string };
