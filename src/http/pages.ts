import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../domain/limits.ts";
import type { PageInfo, PageRange } from "../domain/page-info.ts";
import { Problem } from "../domain/problem/problem.ts";
import { text } from "../domain/schemas.ts";
import type { CursorSigner } from "./cursor.ts";

/** The query parameters of every list. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: "^(?:[1-9][0-9]?|100)$",
      description: `The page size. Default: that of the cursor, else ${PAGE_DEFAULT}.`,
      errorMessage: `must be a whole number from 1 to ${PAGE_MAX}`,
      documentedAs: Type.Integer({ minimum: 1, maximum: PAGE_MAX }),
      examples: [PAGE_DEFAULT],
    }),
  ),
  cursor: Type.Optional(
    text(
      "Continues a listing. Taken from a link in `page_info`; valid only with the same page size.",
    ),
  ),
});

/** The services that lists need. */
export interface ListServices {
  readonly sql: Sql;
  readonly cursors: CursorSigner;
}

/** A call of a list, with a validated PageQuery. */
export interface ListCall {
  readonly principal: Principal;
  readonly request: Request;
  readonly basePath: string;
  readonly query: Static<typeof PageQuery>;
}

/** A call of a list of a project. */
export interface ProjectListCall extends ListCall {
  readonly params: { readonly project_reference: string };
}

/** A list in the order of a key that is unique within it. */
interface Listing<Row, Key extends unknown[], Item> {
  /** The values that a cursor is bound to, such as the operation and the project. */
  readonly binding: string;
  /** Query parameters that its links repeat; undefined ones are left out. */
  readonly parameters?: Readonly<Record<string, string | undefined>>;
  readonly keyOf: (row: Row) => Key;
  readonly read: (range: PageRange<Key>) => Promise<Row[]>;
  /** True if rows that were asked for are left out, because those before them are long. */
  readonly isCut?: (rows: readonly Row[]) => boolean;
  /** A row as the answer shows it. */
  readonly itemOf: (row: Row) => Item;
}

/** The content of a cursor: the page size, the direction, and the key where it starts. */
type Position<Key extends unknown[]> = [limit: number, forward: boolean, ...key: Key];

function openCursor<Key extends unknown[]>(
  cursors: CursorSigner,
  binding: string,
  { cursor, limit }: ListCall["query"],
): Position<Key> | undefined {
  if (cursor === undefined) return undefined;
  const position = cursors.open(binding, cursor) as Position<Key>;
  // A cursor continues one listing, and another page size would be another listing.
  if (limit !== undefined && Number(limit) !== position[0]) {
    throw new Problem("invalid-cursor", {
      detail: "The cursor belongs to a listing with another limit.",
    });
  }
  return position;
}

/**
 * One page of a list, with its links. A page starts after a row rather than at an offset, so a row
 * that exists throughout is listed exactly once, despite concurrent inserts and deletes. Throws
 * `invalid-cursor`.
 */
export async function readListing<Row, Key extends unknown[], Item>(
  cursors: CursorSigner,
  { request, basePath, query: asked }: Omit<ListCall, "principal">,
  { binding, parameters, keyOf, read, isCut, itemOf }: Listing<Row, Key, Item>,
): Promise<{ data: Item[]; page_info: PageInfo }> {
  const position = openCursor<Key>(cursors, binding, asked);
  const first = [Number(asked.limit ?? PAGE_DEFAULT), true] as const;
  const [limit, forward, ...key] = position ?? first;
  const start = position && { [forward ? "after" : "before"]: key as Key };
  // The extra row shows whether there is another page.
  const found = await read({ ...start, limit: limit + 1 });
  const hasMore = found.length > limit || isCut?.(found) === true;
  const rows = found.slice(0, limit);
  if (!forward) rows.reverse();
  // The row in the cursor was on the page that the caller came from, so that page exists.
  const hasNext = forward ? hasMore : true;
  const hasPrevious = forward ? position !== undefined : hasMore;

  const { pathname, search } = new URL(request.url);
  const path = basePath + pathname;
  const linkTo = (to?: Position<Key>) => {
    const cursor = to && cursors.seal(binding, to);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...parameters, limit: String(limit), cursor })) {
      if (value !== undefined) query.set(name, value);
    }
    return `${path}?${query}`;
  };
  const [top, bottom] = [rows[0], rows.at(-1)];
  const page_info = {
    self: path + search,
    first: hasPrevious ? linkTo() : null,
    next: hasNext && bottom !== undefined ? linkTo([limit, true, ...keyOf(bottom)]) : null,
    prev: hasPrevious && top !== undefined ? linkTo([limit, false, ...keyOf(top)]) : null,
  };
  return { data: rows.map(itemOf), page_info };
}
