import type { Queryable } from "../../../db/client.ts";
import { RecordError } from "../../../documents/errors.ts";
import { derivedId, idAside } from "../../../domain/uuid.ts";

/** A row that is stored, or will be once the batch is written. */
export interface KnownRow {
  readonly id: string;
  /** The id of the row that `key` is unique in; "" if it is unique everywhere. */
  readonly parent: string;
  /** The natural key; null in a table without one. */
  readonly key: string | null;
  /** A further value that records of the table are checked against. */
  readonly extra?: string | null | undefined;
  /** True if the row is not stored yet. */
  readonly isNew?: boolean;
  /** The record that gives the row its key. Records before it do not find the row. */
  readonly from?: number;
}

interface Key {
  readonly parent: string;
  readonly key: string;
}

/** How the rows `t` of a table are named. Columns are SQL. */
export interface Naming {
  readonly table: string;
  /** The column with the parent's id; absent if natural keys are unique everywhere. */
  readonly parent?: string;
  /** The natural key; absent without one. */
  readonly key?: string;
  readonly keyType?: "integer";
  readonly extra?: string;
  readonly idType?: "text";
}

const keyOf = ({ parent, key }: Key) => `${parent.length}:${parent}:${key}`;

/** The rows of one table that the records of a batch name, by id and by natural key. */
export class KnownRows {
  /** Null for an id or a key that no row has. */
  readonly #byId = new Map<string, KnownRow | null>();
  readonly #byKey = new Map<string, KnownRow | null>();

  constructor(
    private readonly sql: Queryable,
    private readonly naming: Naming,
  ) {}

  /** Reads the rows with these ids or natural keys. Skips ids and keys of earlier calls. */
  async load(ids: Iterable<string>, keys: Iterable<Key> = []): Promise<void> {
    const newIds = [...ids].filter((id) => !this.#byId.has(id));
    const newKeys = [...keys].filter((key) => !this.#byKey.has(keyOf(key)));
    for (const id of newIds) this.#byId.set(id, null);
    for (const key of newKeys) this.#byKey.set(keyOf(key), null);
    const { table, parent, key, keyType = "text", extra = "NULL", idType = "uuid" } = this.naming;
    const columns = `t.id::text AS id, ${parent ? `coalesce(t.${parent}::text, '')` : "''"} AS parent,
      ${key ? `(${key})::text` : "NULL"} AS key, ${extra} AS extra`;
    const read = async (query: string, ...parameters: string[][]) => {
      const rows = await this.sql.unsafe<KnownRow[]>(query, parameters, { prepare: true });
      for (const row of rows) this.#set(row);
    };
    const withIds = `SELECT ${columns} FROM ${table} t WHERE t.id = ANY ($1::${idType}[])`;
    const ofParent = parent ? `t.${parent} = u.parent::uuid AND` : "";
    const withKeys = `SELECT ${columns} FROM unnest($1::text[], $2::text[]) u (parent, key)
      JOIN ${table} t ON ${ofParent} ${key} = u.key::${keyType}`;
    const [parents, names] = [newKeys.map((each) => each.parent), newKeys.map((each) => each.key)];
    await Promise.all([
      newIds.length === 0 ? undefined : read(withIds, newIds),
      newKeys.length === 0 ? undefined : read(withKeys, parents, names),
    ]);
  }

  /** The row with this id, if a record before `line` may refer to it. */
  byId(id: string, line = Number.POSITIVE_INFINITY): KnownRow | undefined {
    const row = this.#byId.get(id);
    return row?.isNew && (row.from ?? 0) > line ? undefined : (row ?? undefined);
  }

  byKey(parent: string, key: string, line = Number.POSITIVE_INFINITY): KnownRow | undefined {
    const row = this.#byKey.get(keyOf({ parent, key }));
    return (row?.from ?? 0) > line ? undefined : (row ?? undefined);
  }

  /** Makes a row that will be written known. */
  add(row: KnownRow): KnownRow {
    this.#set(row);
    return row;
  }

  #set(row: KnownRow): void {
    this.#byId.set(row.id, row);
    if (row.key !== null) this.#byKey.set(keyOf({ ...row, key: row.key }), row);
  }
}

export interface KeyReference extends Key {
  /** The id that the record gives. */
  readonly id?: string | undefined;
  /** The id of a new row without a given one, if it is not derived from the natural key. */
  readonly derivedId?: string | undefined;
}

/** The id that a record of this kind gives, or that is derived from its natural key. */
export function idOf(kind: string, reference: KeyReference): string {
  const { id, parent, key } = reference;
  return id?.toLowerCase() ?? reference.derivedId ?? derivedId(kind, parent, key);
}

/**
 * Finds or plans the row of a record whose kind has a natural key. A record with an id refers to the
 * row with that id, which must not have another natural key. A record without one refers to the row
 * with its natural key, or to a new row with a derived id. Ids are given by clients, too, so another
 * project may have a row with the derived one; then the new row gets another. Records after it find
 * the row once it is added, because this record may still be refused.
 */
export function resolveByKey(
  rows: KnownRows,
  kind: string,
  reference: KeyReference,
  from: number,
): KnownRow {
  const { parent, key } = reference;
  const id = idOf(kind, reference);
  const withKey = rows.byKey(parent, key);
  if (withKey !== undefined) {
    if (reference.id !== undefined && withKey.id !== id) {
      throw new RecordError(`id: the ${kind} with this natural key has another id`);
    }
    return withKey;
  }
  const withId = rows.byId(id);
  // A user who signed in with a token may have no email yet. Such a row gets its key now.
  const isTaken = withId !== undefined && withId.key !== null;
  if (isTaken && reference.id !== undefined) {
    throw new RecordError(`id: belongs to another ${kind}`);
  }
  const own = isTaken ? idAside(kind, parent, key) : id;
  const isNew = isTaken || withId === undefined || withId.isNew === true;
  return { id: own, parent, key, isNew, from };
}

/** Maximum derived ids that a record without a natural key tries, because they may be those of other rows. */
const DERIVED_IDS_MAX = 16;

/** The ids that a record without a natural key may get: the given one, or ones that are derived from `content`. */
export function* idsOf(
  kind: string,
  { id, parent, content }: { id?: string | undefined; parent: string; content: string },
): Generator<string> {
  if (id !== undefined) return yield id.toLowerCase();
  for (let attempt = 0; attempt < DERIVED_IDS_MAX; attempt++) {
    yield derivedId(kind, parent, attempt === 0 ? content : `${content}\n${attempt}`);
  }
}

/** Finds or plans the row of a record whose kind has no natural key, as `resolveByKey` does. */
export async function resolveById(
  rows: KnownRows,
  kind: string,
  reference: { id?: string | undefined; parent: string; content: string },
  from: number,
): Promise<KnownRow> {
  const { parent } = reference;
  for (const id of idsOf(kind, reference)) {
    await rows.load([id]);
    const known = rows.byId(id);
    if (known === undefined) return { id, parent, key: null, isNew: true, from };
    if (known.parent === parent) return known;
  }
  throw new RecordError(`id: belongs to another ${kind}`);
}
