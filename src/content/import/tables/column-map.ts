import { ImportError } from "../../../documents/errors.ts";

/** The columns of a table by their meaning. All other columns are metadata of the chunk. */
export interface ColumnMap {
  /** The path of the file; rows in succession with the same path are chunks of one file. */
  readonly path: string;
  readonly text: string;
  /** Undefined if the texts are to be embedded. */
  readonly embedding: string | undefined;
}

const FIELDS: ReadonlySet<string> = new Set(["id", "path", "text", "embedding"]);

/** Parses `id=_id,text=text,embedding=emb`; `path` is another name of `id`. Throws an ImportError. */
export function parseColumnMap(text: string): ColumnMap {
  const columns = new Map<string, string>();
  for (const part of text.split(",")) {
    const [, field = "", column = ""] = /^\s*(\w+)\s*=\s*(.+?)\s*$/.exec(part) ?? [];
    if (!FIELDS.has(field)) {
      throw new ImportError(
        `the column map must be a list such as id=_id,text=text,embedding=emb, with the fields ${[...FIELDS].join(", ")}`,
      );
    }
    columns.set(field === "path" ? "id" : field, column);
  }
  const path = columns.get("id");
  const content = columns.get("text");
  if (path === undefined || content === undefined) {
    throw new ImportError("the column map must name the columns of id and text");
  }
  return { path, text: content, embedding: columns.get("embedding") };
}
