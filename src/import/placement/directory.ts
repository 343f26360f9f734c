import type { Queryable } from "../../db/client.ts";
import { IMPORT_REMEMBERED_ROWS } from "../../shared/limits.ts";

/** What an import needs to know about a row that exists, or will once the batch is written. */
export interface Known {
  readonly id: string;
  /** The id of the row that `key` is unique in; "" where it is unique everywhere. */
  readonly parent: string;
  /** The natural key; null where there is none. */
  readonly key: string | null;
  /** More that decides about a record, by table. */
  readonly extra?: string | null;
  /** True when the row does not exist yet. */
  readonly fresh?: boolean;
}

export type Wanted = { readonly id: string } | { readonly parent: string; readonly key: string };

/** How one table is looked up. Columns are SQL. */
export interface LookupSpec {
  readonly table: string;
  /** The column that holds the parent's id; absent where natural keys are unique everywhere. */
  readonly parent?: string;
  /** The column of the natural key; absent where there is none. */
  readonly key?: string;
  /** How a wanted key `u.key` is matched with the column, when not by plain equality. */
  readonly match?: string;
  readonly extra?: string;
  readonly idType?: "uuid" | "text";
}

/** Thrown when a record needs rows that were not read yet; they are noted by then. */
export class NotLoaded extends Error {}
const NOT_LOADED = new NotLoaded();

/**
 * The rows of one table that the records of a batch refer to. Records are placed in line order, so
 * what one of them creates is known to those behind it and not to those before it: created rows
 * lie over the stored ones until the batch is kept.
 */
export class Lookup {
  readonly #stored = new Map<string, Known | null>();
  readonly #placed = new Map<string, Known>();
  readonly #wantedIds = new Set<string>();
  readonly #wantedKeys = new Map<string, { parent: string; key: string }>();

  constructor(private readonly spec: LookupSpec) {}

  /** Throws NotLoaded unless everything wanted was looked up, be it in vain. */
  need(...wanted: readonly Wanted[]): void {
    let missing = false;
    for (const want of wanted) {
      const name = nameOf(want);
      if (this.#placed.has(name) || this.#stored.has(name)) continue;
      missing = true;
      if ("id" in want) this.#wantedIds.add(want.id);
      else this.#wantedKeys.set(name, want);
    }
    if (missing) throw NOT_LOADED;
  }

  byId(id: string): Known | undefined {
    this.need({ id });
    return this.#find(nameOf({ id }));
  }

  byKey(parent: string, key: string): Known | undefined {
    this.need({ parent, key });
    return this.#find(nameOf({ parent, key }));
  }

  /** The row that a record before this one in the batch placed; nothing is looked up. */
  placed(parent: string, key: string): Known | undefined {
    return this.#placed.get(nameOf({ parent, key }));
  }

  /** Makes a row known to the records behind. */
  place(row: Known): void {
    this.#placed.set(nameOf({ id: row.id }), row);
    if (row.key !== null) this.#placed.set(nameOf({ parent: row.parent, key: row.key }), row);
  }

  get wantsRows(): boolean {
    return this.#wantedIds.size > 0 || this.#wantedKeys.size > 0;
  }

  /** Reads what was noted. */
  async load(sql: Queryable): Promise<void> {
    const { table, parent, key, extra, match, idType = "uuid" } = this.spec;
    const columns = `t.id::text AS id, ${parent ? `coalesce(t.${parent}::text, '')` : "''"} AS parent,
      ${key ? `${key}::text` : "NULL"} AS key, ${extra ?? "NULL"} AS extra`;
    const ids = [...this.#wantedIds];
    const keys = [...this.#wantedKeys.values()];
    this.#wantedIds.clear();
    this.#wantedKeys.clear();
    if (ids.length > 0) {
      for (const id of ids) this.#stored.set(nameOf({ id }), null);
      const query = `SELECT ${columns} FROM ${table} t WHERE t.id = ANY($1::${idType}[])`;
      for (const row of await sql.unsafe<Known[]>(query, [ids], { prepare: true })) {
        this.#store(row);
      }
    }
    if (keys.length > 0) {
      for (const wanted of keys) this.#stored.set(nameOf(wanted), null);
      const inParent = parent ? `t.${parent} = u.parent::uuid AND` : "";
      const query = `SELECT u.parent AS asked_parent, u.key AS asked_key, ${columns}
        FROM unnest($1::text[], $2::text[]) u (parent, key)
        JOIN ${table} t ON ${inParent} ${match ?? `${key} = u.key`}`;
      const parameters = [keys.map((want) => want.parent), keys.map((want) => want.key)];
      type Row = Known & { asked_parent: string; asked_key: string };
      for (const row of await sql.unsafe<Row[]>(query, parameters, { prepare: true })) {
        this.#store(row);
        this.#stored.set(nameOf({ parent: row.asked_parent, key: row.asked_key }), row);
      }
    }
  }

  /** Forgets what the records of a batch created, so that they can be placed again. */
  reset(): void {
    this.#placed.clear();
  }

  /** The batch is stored: what it created is now as good as read. */
  keep(): void {
    for (const [name, { fresh: _, ...row }] of this.#placed) this.#stored.set(name, row);
    this.#placed.clear();
    if (this.#stored.size > IMPORT_REMEMBERED_ROWS) this.#stored.clear();
  }

  /** Forgets everything, after a failure that may have been caused by somebody else's change. */
  forget(): void {
    this.#placed.clear();
    this.#stored.clear();
  }

  #store(row: Known): void {
    this.#stored.set(nameOf({ id: row.id }), row);
    if (row.key !== null) this.#stored.set(nameOf({ parent: row.parent, key: row.key }), row);
  }

  #find(name: string): Known | undefined {
    return this.#placed.get(name) ?? this.#stored.get(name) ?? undefined;
  }
}

/** Ids have a prefix that no natural key's name begins with: those begin with a length. */
function nameOf(want: Wanted): string {
  return "id" in want ? `id:${want.id}` : `${want.parent.length}:${want.parent}:${want.key}`;
}

/** Every table that records refer to. */
export function createDirectory() {
  return {
    users: new Lookup({
      table: "users",
      key: "t.email",
      match: "lower(t.email) = lower(u.key)",
    }),
    projects: new Lookup({ table: "projects", key: "t.slug" }),
    apiKeys: new Lookup({
      table: "api_keys",
      key: "t.key_prefix",
      extra: "t.user_id || encode(t.key_hash, 'hex')",
    }),
    environments: new Lookup({ table: "environments", parent: "project_id", key: "t.name" }),
    releases: new Lookup({
      table: "releases",
      parent: "project_id",
      key: "t.name",
      extra: "CASE WHEN t.frozen_at IS NULL THEN NULL ELSE 'frozen' END",
    }),
    files: new Lookup({ table: "files", parent: "project_id", key: "t.path" }),
    versions: new Lookup({ table: "file_versions", parent: "file_id", key: "t.version_key" }),
    /** The contents of releases, stored and staged: the id is the version's, the key the file's. */
    releaseFiles: new Lookup({
      table: `(SELECT release_id, file_id, file_version_id AS id FROM release_files
        UNION ALL SELECT scope_id, file_id, file_version_id FROM import_scopes WHERE is_release)`,
      parent: "release_id",
      key: "t.file_id",
      match: "t.file_id = u.key::uuid",
    }),
    branches: new Lookup({ table: "branches", parent: "project_id", key: "t.name" }),
    approvals: new Lookup({ table: "branch_approvals", parent: "branch_id" }),
    statusChecks: new Lookup({ table: "status_checks", parent: "branch_id", key: "t.check_name" }),
    conversations: new Lookup({ table: "conversations", parent: "project_id" }),
    messages: new Lookup({
      table: "messages",
      parent: "conversation_id",
      key: "t.seq",
      match: "t.seq = u.key::integer",
    }),
    inputRequests: new Lookup({ table: "input_requests", parent: "conversation_id" }),
    webhooks: new Lookup({ table: "webhook_definitions", parent: "project_id", idType: "text" }),
  };
}
export type Directory = ReturnType<typeof createDirectory>;
