import type { Queryable } from "../../db/client.ts";
import { type IdOrigin, idAside } from "../../shared/uuid.ts";

/** Looked-up rows that an import caches per table. */
const IMPORT_LOOKUP_CACHE_ROWS = 100_000;

/** What an import knows about a row that is stored, or will be once the batch is written. */
export interface KnownRow {
  readonly id: string;
  /** The id of the row that `key` is unique in; "" if it is unique everywhere. */
  readonly parent: string;
  /** The natural key; null if the table has none. */
  readonly key: string | null;
  /** What else the table's records are checked against. */
  readonly extra?: string | null;
  /** True if the row is not stored yet. */
  readonly isNew?: boolean;
}

/** Refers to a row by its id or by its natural key. */
type RowReference = { readonly id: string } | { readonly parent: string; readonly key: string };

/** How rows of one table are looked up. Columns are SQL. */
interface LookupSpec {
  readonly table: string;
  /** The column with the parent's id; absent if natural keys are unique everywhere. */
  readonly parent?: string;
  /** The column of the natural key; absent if there is none. */
  readonly key?: string;
  /** The condition that matches a requested key `u.key`, if it is not plain equality. */
  readonly match?: string;
  readonly extra?: string;
  readonly idType?: "uuid" | "text";
}

/** Thrown when a record refers to rows that have not been looked up; `load` looks them up. */
export class LookupPending extends Error {}
const LOOKUP_PENDING = new LookupPending();

/**
 * The rows of one table that the records of a batch refer to. Records are planned in line order, so
 * a row that one record creates is visible to the records after it only. Planned rows hide stored
 * ones until the batch is written.
 */
export class RowLookup {
  /** Stored rows by reference; null where no row is stored. */
  readonly #stored = new Map<string, KnownRow | null>();
  readonly #planned = new Map<string, KnownRow>();
  /** By what they are derived from. */
  readonly #idsAside = new Map<string, string>();
  readonly #pendingIds = new Set<string>();
  readonly #pendingKeys = new Map<string, { parent: string; key: string }>();

  constructor(private readonly spec: LookupSpec) {}

  /** Throws LookupPending unless all references have been looked up, with or without success. */
  require(...references: readonly RowReference[]): void {
    let pending = false;
    for (const reference of references) {
      const key = cacheKey(reference);
      if (this.#planned.has(key) || this.#stored.has(key)) continue;
      pending = true;
      if ("id" in reference) this.#pendingIds.add(reference.id);
      else this.#pendingKeys.set(key, reference);
    }
    if (pending) throw LOOKUP_PENDING;
  }

  byId(id: string): KnownRow | undefined {
    this.require({ id });
    return this.#find(cacheKey({ id }));
  }

  byKey(parent: string, key: string): KnownRow | undefined {
    this.require({ parent, key });
    return this.#find(cacheKey({ parent, key }));
  }

  /** The row that an earlier record of the batch planned. Stored rows are not considered. */
  planned(parent: string, key: string): KnownRow | undefined {
    return this.#planned.get(cacheKey({ parent, key }));
  }

  /** Makes a row visible to the records after the current one. */
  plan(row: KnownRow): void {
    for (const key of cacheKeys(row)) this.#planned.set(key, row);
  }

  /** An id for a row whose derived id another row has. It is the same whenever the batch is planned. */
  idAside(...origin: IdOrigin): string {
    const key = origin.join("\n");
    const id = this.#idsAside.get(key) ?? idAside(...origin);
    this.#idsAside.set(key, id);
    return id;
  }

  get isPending(): boolean {
    return this.#pendingIds.size > 0 || this.#pendingKeys.size > 0;
  }

  /** Looks up the pending references. */
  async load(sql: Queryable): Promise<void> {
    const ids = [...this.#pendingIds];
    const keys = [...this.#pendingKeys.values()];
    this.#pendingIds.clear();
    this.#pendingKeys.clear();
    if (ids.length > 0) await this.#loadIds(sql, ids);
    if (keys.length > 0) await this.#loadKeys(sql, keys);
  }

  async #loadIds(sql: Queryable, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#stored.set(cacheKey({ id }), null);
    const { table, idType = "uuid" } = this.spec;
    const query = `SELECT ${this.#columns()} FROM ${table} t WHERE t.id = ANY($1::${idType}[])`;
    for (const row of await sql.unsafe<KnownRow[]>(query, [ids], { prepare: true })) {
      this.#store(row);
    }
  }

  async #loadKeys(
    sql: Queryable,
    references: readonly { parent: string; key: string }[],
  ): Promise<void> {
    for (const reference of references) this.#stored.set(cacheKey(reference), null);
    const { table, parent, key, match = `${key} = u.key` } = this.spec;
    const inParent = parent ? `t.${parent} = u.parent::uuid AND` : "";
    const query = `SELECT u.parent AS requested_parent, u.key AS requested_key, ${this.#columns()}
      FROM unnest($1::text[], $2::text[]) u (parent, key)
      JOIN ${table} t ON ${inParent} ${match}`;
    const parameters = [references.map((each) => each.parent), references.map((each) => each.key)];
    type Row = KnownRow & { requested_parent: string; requested_key: string };
    for (const row of await sql.unsafe<Row[]>(query, parameters, { prepare: true })) {
      this.#store(row);
      const requested = { parent: row.requested_parent, key: row.requested_key };
      this.#stored.set(cacheKey(requested), row);
    }
  }

  #columns(): string {
    const { parent, key, extra = "NULL" } = this.spec;
    return `t.id::text AS id, ${parent ? `coalesce(t.${parent}::text, '')` : "''"} AS parent,
      ${key ? `${key}::text` : "NULL"} AS key, ${extra} AS extra`;
  }

  /** Discards the planned rows, so that the batch can be planned again. */
  resetPlan(): void {
    this.#planned.clear();
  }

  /** Turns the planned rows into stored ones, after the batch has been written. */
  commitPlan(): void {
    for (const [key, { isNew: _, ...row }] of this.#planned) this.#stored.set(key, row);
    this.#planned.clear();
    this.#idsAside.clear();
    if (this.#stored.size > IMPORT_LOOKUP_CACHE_ROWS) this.#stored.clear();
  }

  /** Clears planned and stored rows, after a failure that another client may have caused. */
  clear(): void {
    this.#planned.clear();
    this.#idsAside.clear();
    this.#stored.clear();
  }

  #store(row: KnownRow): void {
    for (const key of cacheKeys(row)) this.#stored.set(key, row);
  }

  #find(key: string): KnownRow | undefined {
    return this.#planned.get(key) ?? this.#stored.get(key) ?? undefined;
  }
}

/** The keys of ids begin with `id:`, those of natural keys with a length. */
function cacheKey(reference: RowReference): string {
  if ("id" in reference) return `id:${reference.id}`;
  return `${reference.parent.length}:${reference.parent}:${reference.key}`;
}

function cacheKeys({ id, parent, key }: KnownRow): string[] {
  return key === null ? [cacheKey({ id })] : [cacheKey({ id }), cacheKey({ parent, key })];
}
