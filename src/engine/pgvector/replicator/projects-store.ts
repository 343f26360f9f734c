import type { Sql, Transaction } from "../../../db/client.ts";
import { DIMENSIONS } from "../../../shared/limits.ts";
import { SCHEMA, tablesOf } from "../tables.ts";
import { distribute, fence, ProjectStore } from "./store.ts";

/** Values of the distribution column among which placements in shards of their own are found. */
const VECTOR_SHARDS_PROBED = 8_192;

/** How the tables of new projects are created. */
interface Layout {
  readonly epoch: number;
  /** True where Citus distributes tables. */
  readonly distributed: boolean;
  readonly placements: number;
}

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

async function createTables(tx: Transaction, id: string, layout: Layout): Promise<number[]> {
  const { versions, scopes } = tablesOf(id);
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
  if (!layout.distributed) return [...ONE_PLACEMENT];
  await tx`
    SELECT create_distributed_table(${versions}::regclass, 'placement',
      colocate_with => 'none', shard_count => ${layout.placements}::int)`;
  await distribute(tx, scopes, versions);
  return await distinctPlacements(tx, versions, layout.placements);
}

/** True when the project has tables. */
export async function isStored(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM ${sql(SCHEMA)}.projects WHERE id = ${id}`;
  return rows.length > 0;
}

/** Opens a project for writing, and creates its tables if it is new. */
export async function openProject(sql: Sql, id: string, layout: Layout): Promise<ProjectStore> {
  const placements = (await sql.begin(async (tx) => {
    await fence(tx, layout.epoch);
    const [known] = await tx<{ placements: number[] }[]>`
      SELECT placements FROM ${tx(SCHEMA)}.projects WHERE id = ${id}`;
    if (known !== undefined) return known.placements;
    const created = await createTables(tx, id, layout);
    await tx`INSERT INTO ${tx(SCHEMA)}.projects (id, placements) VALUES (${id}, ${created})`;
    return created;
  })) as number[];
  const store = new ProjectStore(sql, id, layout.epoch, placements, layout.distributed);
  await store.open();
  return store;
}

/** Removes a project and its tables. Searches that run fail, and then find no project. */
export async function dropProject(sql: Sql, id: string, epoch: number): Promise<void> {
  const tables = tablesOf(id);
  const names = [tables.versions, tables.scopes, ...DIMENSIONS.map((d) => tables.chunks(d))];
  await sql.begin(async (tx) => {
    await fence(tx, epoch);
    await tx`DELETE FROM ${tx(SCHEMA)}.projects WHERE id = ${id}`;
    for (const name of names) await tx.unsafe(`DROP TABLE IF EXISTS ${name}`);
  });
}
