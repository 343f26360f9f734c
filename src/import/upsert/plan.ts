import type { Queryable } from "../../db/client.ts";
import { derivedId } from "../../shared/uuid.ts";
import { RecordError } from "../records/errors.ts";
import type { ImportTarget } from "../records/target.ts";
import type { NewVersion } from "./announce.ts";
import type { KnownRow, RowLookup } from "./lookup.ts";
import type { Lookups } from "./lookups.ts";
import type { RowBuffer } from "./row-buffer.ts";

/** An environment's `active_release`, which is applied when the import ends. */
export interface ActiveRelease {
  /** Position of the record in the input. */
  readonly where: string;
  /** Position of the record in its batch. */
  readonly record: number;
  readonly projectId: string;
  readonly environmentId: string;
  /** Null if the environment is to serve its working set. */
  readonly release: string | null;
}

/** Names of environments by the ids of the releases that are made from them; null for files that records name. */
export type ReleaseSources = Map<string, string | null>;

/** Adds a release. The last environment that a record names is the one that is remembered. */
export function addRelease(releases: ReleaseSources, id: string, environment?: string | null) {
  releases.set(id, environment ?? releases.get(id) ?? null);
}

/** Fingerprints of embedders by their names. */
export type Fingerprints = Readonly<Record<string, string>>;

/** What a batch of records will write. */
export interface BatchPlan {
  readonly lookups: Lookups;
  /** The only project whose rows the records may refer to; undefined for all. */
  readonly target: ImportTarget | undefined;
  /** The fingerprints of the configured embedders by name. */
  readonly embedders: Fingerprints;
  readonly rows: RowBuffer;
  /** Ids of the stored projects that the records belong to. */
  readonly projects: Set<string>;
  /** Ids of the projects that the records create. */
  readonly newProjects: Set<string>;
  /** True if a record changes a project itself or its members. */
  changesProjects: boolean;
  /** Ids of the releases to freeze when the import ends, with the environment that each is made from. */
  readonly releases: ReleaseSources;
  readonly activeReleases: ActiveRelease[];
  /** New file versions that a scope will hold when the import ends. */
  readonly newVersions: NewVersion[];
  /** Statements to run after the rows are written. They may throw a RecordError. */
  readonly afterRows: Array<(sql: Queryable) => Promise<void>>;
}

/**
 * Finds or plans the row of a record whose kind has a natural key. A record with an id refers to the
 * row with that id, which must not have another natural key. A record without one refers to the row
 * with its natural key, or to a new row with a derived id. Ids are given by clients, too, so another
 * project may have a row with the derived one; then the new row gets another.
 */
export function resolveByKey(
  lookup: RowLookup,
  kind: string,
  reference: { id?: string | undefined; parent: string; key: string },
): KnownRow {
  const { parent, key } = reference;
  const id = reference.id?.toLowerCase() ?? derivedId(kind, parent, key);
  lookup.require({ id }, { parent, key });
  const withKey = lookup.byKey(parent, key);
  if (withKey !== undefined) {
    if (reference.id !== undefined && withKey.id !== id) {
      throw new RecordError(`id: the ${kind} with this natural key has another id`);
    }
    return withKey;
  }
  const withId = lookup.byId(id);
  // A user who signed in with a token may have no email yet. Such a row gets its key now.
  const isTaken = withId !== undefined && withId.key !== null;
  if (isTaken && reference.id !== undefined) {
    throw new RecordError(`id: belongs to another ${kind}`);
  }
  const row: KnownRow = isTaken
    ? { id: lookup.idAside(kind, parent, key), parent, key, isNew: true }
    : { id, parent, key, isNew: withId === undefined };
  lookup.plan(row);
  return row;
}

/** How many derived ids a record without a natural key tries until one is not another row's. */
const DERIVED_IDS_MAX = 16;

/**
 * Finds or plans the row of a record whose kind has no natural key. Without an id, the id is derived
 * from `content`.
 */
export function resolveById(
  lookup: RowLookup,
  kind: string,
  reference: { id?: string | undefined; parent: string; content: string },
): KnownRow {
  const { parent, content } = reference;
  for (let attempt = 0; attempt < DERIVED_IDS_MAX; attempt++) {
    const name = attempt === 0 ? content : `${content}\n${attempt}`;
    const id = reference.id?.toLowerCase() ?? derivedId(kind, parent, name);
    const known = lookup.byId(id);
    if (known === undefined) {
      const row: KnownRow = { id, parent, key: null, isNew: true };
      lookup.plan(row);
      return row;
    }
    if (known.parent === parent) return known;
    if (reference.id !== undefined) break;
  }
  throw new RecordError(`id: belongs to another ${kind}`);
}

/**
 * The stored or planned row with this id, unless it belongs to another project than the target.
 *
 * @param lookup of rows whose parents are projects
 */
export function rowInTarget(
  { target, projects }: BatchPlan,
  lookup: RowLookup,
  id: string,
): KnownRow | undefined {
  const row = lookup.byId(id.toLowerCase());
  if (target !== undefined && row?.parent !== target.id) return undefined;
  // A conversation may have no project.
  if (row !== undefined && row.parent !== "" && !row.isNew) projects.add(row.parent);
  return row;
}
