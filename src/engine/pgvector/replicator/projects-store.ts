import type { Queryable, Sql, Transaction } from "../../../db/client.ts";
import { DIMENSIONS, VECTOR_CLEAN_INTERVAL_MS } from "../../../domain/limits.ts";
import { SCHEMA, tablesOf } from "../tables.ts";
import { distribute } from "./create-chunks.ts";
import { fence, ProjectStore } from "./store.ts";

/** Values of the distribution column among which placements in shards of their own are found. */
const VECTOR_SHARDS_PROBED = 8_192;
/** A copy that was replaced is kept for longer than any search reads it. */
const VECTOR_RETIRED_SECONDS = VECTOR_CLEAN_INTERVAL_MS / 1_000;

/** How the tables of new copies are created. */
export interface Layout {
  readonly epoch: number;
  /** True where Citus distributes tables. */
  readonly distributed: boolean;
}

/** Searches read the copy that is serving. A copy that is filling replaces it once it is complete. */
export type CopyRole = "serving" | "filling";

const ONE_PLACEMENT = [0] as const;

/**
 * Values of the distribution column that lie in shards of their own. Citus hashes the column, so
 * consecutive numbers could share a shard.
 */
async function distinctPlacements(
  tx: Transaction,
  table: string,
  count: number,
): Promise<number[]> {
  const rows = await tx<{ placement: number }[]>`
    SELECT min(n)::int AS placement FROM generate_series(0, ${VECTOR_SHARDS_PROBED}::int) AS n
    GROUP BY get_shard_id_for_distribution_column(${table}, n) ORDER BY 1 LIMIT ${count}`;
  return rows.map(({ placement }) => placement);
}

/** Creates the tables of a copy. Returns its placements. */
async function createTables(
  tx: Transaction,
  copyId: string,
  distributed: boolean,
  count: number,
): Promise<number[]> {
  const { versions, scopes } = tablesOf(copyId);
  await tx.unsafe(`
    CREATE TABLE IF NOT EXISTS ${versions} (
      placement integer NOT NULL, id uuid NOT NULL, counts integer[] NOT NULL,
      added_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (placement, id))`);
  await tx.unsafe(`
    CREATE TABLE IF NOT EXISTS ${scopes} (
      placement integer NOT NULL, scope_id uuid NOT NULL, file_version_id uuid NOT NULL,
      from_seq bigint NOT NULL, to_seq bigint NOT NULL,
      PRIMARY KEY (placement, scope_id, file_version_id, from_seq))`);
  await tx.unsafe(`CREATE INDEX ON ${scopes} (placement, file_version_id)`);
  if (!distributed) return [...ONE_PLACEMENT];
  await tx`
    SELECT create_distributed_table(${versions}::regclass, 'placement',
      colocate_with => 'none', shard_count => ${count}::int)`;
  await distribute(tx, scopes, versions);
  return await distinctPlacements(tx, versions, count);
}

/** The number of placements of a new copy of a project: one, unless an operator has requested more. */
async function placementsFor(tx: Transaction, projectId: string, layout: Layout): Promise<number> {
  if (!layout.distributed) return ONE_PLACEMENT.length;
  const [row] = await tx<{ placements: number }[]>`
    SELECT placements FROM ${tx(SCHEMA)}.wanted_placements WHERE project_id = ${projectId}`;
  return row?.placements ?? ONE_PLACEMENT.length;
}

interface Copy {
  readonly id: string;
  readonly placements: readonly number[];
}

async function createCopy(
  tx: Transaction,
  projectId: string,
  layout: Layout,
  role: CopyRole,
  rebuildSeq: number,
): Promise<Copy> {
  const id = crypto.randomUUID();
  const count = await placementsFor(tx, projectId, layout);
  const placements = await createTables(tx, id, layout.distributed, count);
  await tx`
    INSERT INTO ${tx(SCHEMA)}.copies (id, project_id, placements, state, rebuild_seq)
    VALUES (${id}, ${projectId}, ${placements}, ${role}, ${rebuildSeq})`;
  return { id, placements };
}

async function findCopy(sql: Queryable, projectId: string, role: CopyRole) {
  const [copy] = await sql<(Copy & { rebuild_seq: string })[]>`
    SELECT id, placements, rebuild_seq FROM ${sql(SCHEMA)}.copies
    WHERE project_id = ${projectId} AND state = ${role}`;
  return copy;
}

/** True when the project has such a copy. */
export async function isStored(sql: Sql, projectId: string, role: CopyRole): Promise<boolean> {
  return (await findCopy(sql, projectId, role)) !== undefined;
}

/** Opens a copy of a project for writing. The tables of a new project are created. */
export async function openProject(
  sql: Sql,
  projectId: string,
  layout: Layout,
  role: CopyRole,
): Promise<ProjectStore> {
  const copy = (await sql.begin(async (tx) => {
    await fence(tx, layout.epoch);
    const known = await findCopy(tx, projectId, role);
    if (known !== undefined) return known;
    if (role === "filling") throw new Error("the copy that is to be filled does not exist");
    return await createCopy(tx, projectId, layout, role, 0);
  })) as Copy;
  const store = new ProjectStore(sql, copy.id, layout.epoch, copy.placements, layout.distributed);
  await store.open();
  return store;
}

async function dropCopy(tx: Transaction, id: string): Promise<void> {
  const tables = tablesOf(id);
  const names = [tables.versions, tables.scopes, ...DIMENSIONS.map((d) => tables.chunks(d))];
  await tx`DELETE FROM ${tx(SCHEMA)}.copies WHERE id = ${id}`;
  for (const name of names) await tx.unsafe(`DROP TABLE IF EXISTS ${name}`);
}

/** Removes a project and its tables. Searches that run fail, and then find no project. */
export async function dropProject(sql: Sql, projectId: string, epoch: number): Promise<void> {
  await sql.begin(async (tx) => {
    await fence(tx, epoch);
    const copies = await tx<{ id: string }[]>`
      SELECT id FROM ${tx(SCHEMA)}.copies WHERE project_id = ${projectId}`;
    for (const { id } of copies) await dropCopy(tx, id);
    await tx`DELETE FROM ${tx(SCHEMA)}.wanted_placements WHERE project_id = ${projectId}`;
  });
}

/** Removes the copies that no search has read for a while. */
export async function dropRetired(sql: Sql, epoch: number): Promise<void> {
  const copies = await sql<{ id: string }[]>`
    SELECT id FROM ${sql(SCHEMA)}.copies WHERE state = 'retired'
      AND retired_at < now() - make_interval(secs => ${VECTOR_RETIRED_SECONDS})`;
  for (const { id } of copies) {
    await sql.begin(async (tx) => {
      await fence(tx, epoch);
      await dropCopy(tx, id);
    });
  }
}

/**
 * Creates a copy to fill, unless the serving or filling copy has the wanted placements and the requested rebuild. An
 * outdated copy that is filling is removed.
 * @param rebuildSeq the entry of the change log that asks for a rebuild; 0 for another number of placements
 * @returns true when there is a copy to fill; undefined when the project does not have a serving copy
 */
export async function beginCopy(
  sql: Sql,
  projectId: string,
  layout: Layout,
  rebuildSeq: number,
): Promise<boolean | undefined> {
  return (await sql.begin(async (tx) => {
    await fence(tx, layout.epoch);
    const serving = await findCopy(tx, projectId, "serving");
    if (serving === undefined) return undefined;
    const filling = await findCopy(tx, projectId, "filling");
    const count = await placementsFor(tx, projectId, layout);
    const isAsWanted = (copy: typeof serving) =>
      copy.placements.length === count && Number(copy.rebuild_seq) >= rebuildSeq;
    if (filling !== undefined && isAsWanted(filling)) return true;
    if (filling !== undefined) await dropCopy(tx, filling.id);
    // An earlier leader may have fulfilled the request.
    if (isAsWanted(serving)) return false;
    await createCopy(tx, projectId, layout, "filling", rebuildSeq);
    return true;
  })) as boolean | undefined;
}

/** From now on searches read the copy that was filled. */
export async function switchCopies(sql: Sql, projectId: string, epoch: number): Promise<void> {
  await sql.begin(async (tx) => {
    await fence(tx, epoch);
    const copies = tx`${tx(SCHEMA)}.copies`;
    await tx`
      UPDATE ${copies} SET state = 'retired', retired_at = now()
      WHERE project_id = ${projectId} AND state = 'serving'`;
    await tx`
      UPDATE ${copies} SET state = 'serving' WHERE project_id = ${projectId} AND state = 'filling'`;
  });
}
