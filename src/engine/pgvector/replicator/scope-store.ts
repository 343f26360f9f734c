import type { Sql } from "../../../db/client.ts";
import { DIMENSIONS } from "../../../domain/limits.ts";
import { OPEN_END, SCHEMA } from "../tables.ts";
import { byPlacement } from "./placements.ts";
import { IncompleteScope, type ProjectStore } from "./store.ts";

/** The file versions by which the wanted contents of a scope differ from the current ones. */
export interface ScopeChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The sequence number at which searches read the scope; undefined for a scope that was never applied. */
async function appliedOf(
  sql: Sql,
  store: ProjectStore,
  scopeId: string,
): Promise<number | undefined> {
  const [row] = await sql<{ applied: string }[]>`
    SELECT applied FROM ${sql(SCHEMA)}.scopes
    WHERE copy_id = ${store.copyId} AND id = ${scopeId}`;
  return row === undefined ? undefined : Number(row.applied);
}

/** The file versions that the scope holds after its last replacement. */
async function openVersions(sql: Sql, store: ProjectStore, scopeId: string): Promise<string[]> {
  const versions: string[] = [];
  for (const placement of store.placements) {
    // One long string is much cheaper than a row object for each of 100,000 versions.
    const [row] = await sql<{ versions: string | null }[]>`
      SELECT string_agg(file_version_id::text, ' ') AS versions FROM ${sql(store.tables.scopes)}
      WHERE placement = ${placement} AND scope_id = ${scopeId} AND to_seq = ${OPEN_END}`;
    if (row?.versions) for (const version of row.versions.split(" ")) versions.push(version);
  }
  return versions;
}

/** The change after which a scope holds exactly these file versions. */
export async function changeOf(
  sql: Sql,
  store: ProjectStore,
  scopeId: string,
  wanted: readonly string[],
): Promise<ScopeChange> {
  const current = await openVersions(sql, store, scopeId);
  const [before, after] = [new Set(current), new Set(wanted)];
  return {
    added: [...after].filter((version) => !before.has(version)),
    removed: current.filter((version) => !after.has(version)),
  };
}

/** Ends and begins ranges at `seq`. No search reads at that number yet. */
async function writeRanges(
  store: ProjectStore,
  scopeId: string,
  seq: number,
  { added, removed }: ScopeChange,
): Promise<void> {
  const { tables, placements } = store;
  const ended = byPlacement(removed, placements);
  const begun = byPlacement(added, placements);
  await store.write(async (tx) => {
    for (const placement of placements) {
      const [out, into] = [ended.get(placement) as string[], begun.get(placement) as string[]];
      if (out.length > 0) {
        await tx`
          UPDATE ${tx(tables.scopes)} SET to_seq = ${seq}
          WHERE placement = ${placement} AND scope_id = ${scopeId} AND to_seq = ${OPEN_END}
            AND file_version_id = ANY(${out}::uuid[])`;
      }
      if (into.length > 0) {
        // An attempt that was not published may have begun and ended the same range.
        // Citus plans the SELECT apart from the rest, and only with the parameters in it.
        await tx`
          INSERT INTO ${tx(tables.scopes)} (placement, scope_id, file_version_id, from_seq, to_seq)
          SELECT ${placement}::int, ${scopeId}::uuid, u.id, ${seq}::bigint, ${OPEN_END}::bigint
          FROM unnest(${into}::uuid[]) AS u (id)
          ON CONFLICT (placement, scope_id, file_version_id, from_seq)
            DO UPDATE SET to_seq = excluded.to_seq`;
      }
    }
  });
}

/** Chunks of the scope at `seq` by dimension. Throws when a placement lacks rows. */
async function sizesAt(
  sql: Sql,
  store: ProjectStore,
  scopeId: string,
  seq: number,
  versions: number,
): Promise<number[]> {
  const sums = DIMENSIONS.map((_, slot) => `coalesce(sum(v.counts[${slot + 1}]), 0)`).join(", ");
  const sizes = DIMENSIONS.map(() => 0);
  let found = 0;
  for (const placement of store.placements) {
    const [row] = await sql<{ found: number; sizes: number[] }[]>`
      SELECT count(*)::int AS found, ARRAY[${sql.unsafe(sums)}]::int[] AS sizes
      FROM ${sql(store.tables.scopes)} s JOIN ${sql(store.tables.versions)} v
        ON v.placement = s.placement AND v.id = s.file_version_id
      WHERE s.placement = ${placement} AND s.scope_id = ${scopeId}
        AND s.from_seq <= ${seq} AND s.to_seq > ${seq}`;
    found += row?.found ?? 0;
    for (const [slot, size] of (row?.sizes ?? []).entries()) {
      sizes[slot] = (sizes[slot] as number) + size;
    }
  }
  // A worker that died during the commit shows its rows only after it has recovered.
  if (found !== versions) throw new IncompleteScope();
  return sizes;
}

/**
 * Changes a scope. Ranges are written first and then published by one row, so a search sees the scope before or after
 * the replacement on all placements. The chunks of added versions are stored already.
 * @param size the number of file versions in the scope after the change
 */
export async function replaceScope(
  sql: Sql,
  store: ProjectStore,
  scopeId: string,
  size: number,
  change: ScopeChange,
): Promise<void> {
  const applied = await appliedOf(sql, store, scopeId);
  const isChanged = change.added.length > 0 || change.removed.length > 0;
  const seq = (applied ?? 0) + 1;
  if (isChanged) await writeRanges(store, scopeId, seq, change);
  const sizes = await sizesAt(sql, store, scopeId, seq, size);
  await store.write(async (tx) => {
    await tx`
      INSERT INTO ${tx(SCHEMA)}.scopes (id, copy_id, applied, sizes)
      VALUES (${scopeId}, ${store.copyId}, ${seq}, ${sizes})
      ON CONFLICT (copy_id, id) DO UPDATE SET applied = ${seq}, sizes = ${sizes}`;
  });
}

/** Removes a scope that was deleted on the platform. */
export async function dropScope(store: ProjectStore, scopeId: string): Promise<void> {
  await store.write(
    (tx) => tx`
      DELETE FROM ${tx(SCHEMA)}.scopes WHERE copy_id = ${store.copyId} AND id = ${scopeId}`,
  );
  await store.write(async (tx) => {
    for (const placement of store.placements) {
      await tx`
        DELETE FROM ${tx(store.tables.scopes)}
        WHERE placement = ${placement} AND scope_id = ${scopeId}`;
    }
  });
}
