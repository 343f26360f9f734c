import type { Queryable } from "../../db/client.ts";
import { LineError } from "../records/line-error.ts";
import type { Directory, Known, Lookup } from "./directory.ts";
import { derivedId } from "./ids.ts";
import type { Rows } from "./rows.ts";

/** What a record waits for until everything else is imported. */
export interface ActiveRelease {
  /** `FILE:LINE` of the record, for the report. */
  readonly where: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly release: string;
}

/** Where the records of a batch put what they mean. */
export interface Placement {
  readonly directory: Directory;
  readonly rows: Rows;
  /** Releases to freeze when the import ends. */
  readonly releases: Set<string>;
  readonly activeReleases: ActiveRelease[];
  /** Statements to run once the rows are written. They may throw a LineError. */
  readonly afterwards: Array<(sql: Queryable) => Promise<void>>;
}

/**
 * Finds the row that a record is about. With an id it is that row, which must not have another
 * natural key. Without one it is the row with the natural key, or a new one with a derived id.
 */
export function identify(
  lookup: Lookup,
  kind: string,
  wanted: { id?: string | undefined; parent: string; key: string },
): Known {
  const { parent, key } = wanted;
  const id = wanted.id?.toLowerCase() ?? derivedId(kind, parent, key);
  lookup.need({ id }, { parent, key });
  const named = lookup.byKey(parent, key);
  if (named !== undefined) {
    if (wanted.id !== undefined && named.id !== id) {
      throw new LineError(`id: the ${kind} with this natural key has another id`);
    }
    return named;
  }
  const row = lookup.byId(id);
  // A row without a natural key, such as a user who came with a token, gets it now.
  if (row !== undefined && row.key !== null) {
    throw new LineError(`id: belongs to another ${kind}`);
  }
  const known: Known = { id, parent, key, fresh: row === undefined };
  lookup.place(known);
  return known;
}

/** The same for kinds without a natural key; `content` decides the id where none is given. */
export function identifyById(
  lookup: Lookup,
  kind: string,
  wanted: { id?: string | undefined; parent: string; content: string },
): Known {
  const id = wanted.id?.toLowerCase() ?? derivedId(kind, wanted.parent, wanted.content);
  const row = lookup.byId(id);
  if (row === undefined) {
    const known: Known = { id, parent: wanted.parent, key: null, fresh: true };
    lookup.place(known);
    return known;
  }
  if (row.parent !== wanted.parent) throw new LineError(`id: belongs to another ${kind}`);
  return row;
}
