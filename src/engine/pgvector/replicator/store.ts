import type { Queryable, Sql, Transaction } from "../../../db/client.ts";
import { floatsOf } from "../../../shared/vector.ts";
import { renderChunk, vectorOf } from "../../indexing/versions/chunk-content.ts";
import type { ChunkRow, EmptyVersionRow } from "../../indexing/versions/version-index.ts";
import { codeOf, vectorText } from "../codes.ts";
import { SCHEMA, tablesOf } from "../tables.ts";
import type { VersionCounts } from "./version-counts.ts";

/** Another process has become the leader; this one must not write any more. */
export class LostLeadership extends Error {
  override readonly message = "another node writes the vectors now";
}

/** Runs work of the leader; false when another process leads by now. */
export async function whileLeading(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof LostLeadership) return false;
    throw error;
  }
}

/** The rows of the engine's database are not those that were just written. */
export class IncompleteScope extends Error {
  override readonly message = "a scope lacks file versions that were written; writing it again";
}

/** Where a file version is stored: the same placement for its chunks and for its rows in scopes. */
function placementOf(versionId: string, placements: readonly number[]): number {
  // The last digits of a uuid are random in every version of the format.
  const slot = Number.parseInt(versionId.slice(-8), 16) % placements.length;
  return placements[slot] as number;
}

/** File versions by the placement that stores them. Placements without any are included. */
export function byPlacement(
  versions: readonly string[],
  placements: readonly number[],
): Map<number, string[]> {
  const groups = new Map(placements.map((placement) => [placement, [] as string[]]));
  for (const version of versions) groups.get(placementOf(version, placements))?.push(version);
  return groups;
}

interface TableState {
  centre: Float32Array | null;
}

/**
 * The leader's writes to one project. Every transaction holds the row of the leader's epoch, so that
 * a leader that was replaced writes nothing. Calls for one project do not overlap.
 */
export class ProjectStore {
  readonly tables: ReturnType<typeof tablesOf>;
  readonly #dimensions = new Map<number, TableState>();

  constructor(
    private readonly sql: Sql,
    readonly id: string,
    private readonly epoch: number,
    readonly placements: readonly number[],
    private readonly distributed: boolean,
  ) {
    this.tables = tablesOf(id);
  }

  /** Runs a transaction that fails unless this process still leads. */
  async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.sql.begin(async (tx) => {
      await fence(tx, this.epoch);
      return await work(tx);
    })) as T;
  }

  /** Reads what an earlier leader has left. */
  async open(): Promise<void> {
    const rows = await this.sql<{ dimension: number; centre: Uint8Array | null }[]>`
      SELECT dimension, centre FROM ${this.sql(SCHEMA)}.tables WHERE project_id = ${this.id}`;
    for (const { dimension, centre } of rows) {
      this.#dimensions.set(dimension, {
        centre: centre === null ? null : floatsOf(centre),
      });
    }
  }

  dimensions(): number[] {
    return [...this.#dimensions.keys()];
  }

  setCentre(dimension: number, centre: Float32Array): void {
    this.#dimensions.set(dimension, { centre });
  }

  /** Those of the versions that are not stored completely. */
  async unknown(versions: readonly string[]): Promise<string[]> {
    const { sql, tables } = this;
    const known = new Set<string>();
    for (const [placement, ids] of byPlacement(versions, this.placements)) {
      if (ids.length === 0) continue;
      const rows = await sql<{ id: string }[]>`
        SELECT id FROM ${sql(tables.versions)}
        WHERE placement = ${placement} AND id = ANY(${ids}::uuid[])`;
      for (const { id } of rows) known.add(id);
    }
    return versions.filter((id) => !known.has(id));
  }

  /** Stores chunks. Those that are stored already stay as they are: file versions never change. */
  async addChunks(
    rows: ReadonlyArray<ChunkRow | EmptyVersionRow>,
    counts: VersionCounts,
  ): Promise<readonly string[]> {
    const unusable: string[] = [];
    const groups = new Map<string, { dimension: number; placement: number; batch: ChunkBatch }>();
    for (const row of rows) {
      counts.note(row.file_version_id);
      if (row.id === null) continue;
      const vector = vectorOf(row);
      if (vector === null) {
        unusable.push(row.id);
        continue;
      }
      const { dimension, file_version_id } = row;
      const placement = placementOf(file_version_id, this.placements);
      await this.#ensureTable(dimension);
      const key = `${dimension} ${placement}`;
      const group = groups.get(key) ?? { dimension, placement, batch: emptyBatch() };
      groups.set(key, group);
      addToBatch(group.batch, row, vector, this.#dimensions.get(dimension)?.centre ?? null);
      counts.add(file_version_id, dimension);
    }
    for (const { dimension, placement, batch } of groups.values()) {
      await this.#insert(dimension, placement, batch);
    }
    return unusable;
  }

  /** Notes that all chunks of these versions are stored. */
  async addVersions(counts: VersionCounts): Promise<void> {
    await this.write(async (tx) => {
      for (const [placement, ids] of byPlacement(counts.versions, this.placements)) {
        if (ids.length === 0) continue;
        const sizes = ids.map((id) => `{${counts.of(id).join(",")}}`);
        await tx`
          INSERT INTO ${tx(this.tables.versions)} (placement, id, counts)
          SELECT ${placement}::int, u.id, u.counts::int[]
          FROM unnest(${ids}::uuid[], ${sizes}::text[]) AS u (id, counts)
          ON CONFLICT DO NOTHING`;
      }
    });
  }

  /** Removes versions and their chunks, so that they can be added as they are now. */
  async removeVersions(versions: readonly string[]): Promise<void> {
    const { tables } = this;
    await this.write(async (tx) => {
      for (const [placement, ids] of byPlacement(versions, this.placements)) {
        if (ids.length === 0) continue;
        await tx`
          DELETE FROM ${tx(tables.versions)}
          WHERE placement = ${placement} AND id = ANY(${ids}::uuid[])`;
        for (const dimension of this.dimensions()) {
          const { count } = await tx`
            DELETE FROM ${tx(tables.chunks(dimension))}
            WHERE placement = ${placement} AND file_version_id = ANY(${ids}::uuid[])`;
          await tx`
            UPDATE ${tx(SCHEMA)}.tables SET rows = rows - ${count}
            WHERE project_id = ${this.id} AND dimension = ${dimension}`;
        }
      }
    });
  }

  async #insert(dimension: number, placement: number, batch: ChunkBatch): Promise<void> {
    const [bits, vector] = [`bit(${dimension})`, `vector(${dimension})`];
    await this.write(async (tx) => {
      const { count } = await tx`
        INSERT INTO ${tx(this.tables.chunks(dimension))}
          (placement, chunk_id, file_version_id, code, embedding, rendered)
        SELECT ${placement}::int, u.id, u.version, u.code::${tx.unsafe(bits)},
          u.embedding::${tx.unsafe(vector)}, u.rendered
        FROM unnest(${batch.ids}::uuid[], ${batch.versions}::uuid[], ${batch.codes}::text[],
          ${batch.embeddings}::text[], ${batch.rendered}::text[])
          AS u (id, version, code, embedding, rendered)
        ON CONFLICT DO NOTHING`;
      await tx`
        UPDATE ${tx(SCHEMA)}.tables SET rows = rows + ${count}
        WHERE project_id = ${this.id} AND dimension = ${dimension}`;
    });
  }

  async #ensureTable(dimension: number): Promise<void> {
    if (this.#dimensions.has(dimension)) return;
    await this.write(async (tx) => {
      const name = this.tables.chunks(dimension);
      await tx.unsafe(`
        CREATE TABLE IF NOT EXISTS ${name} (
          placement integer NOT NULL, chunk_id uuid NOT NULL, file_version_id uuid NOT NULL,
          code bit(${dimension}), embedding vector(${dimension}) NOT NULL, rendered text NOT NULL,
          PRIMARY KEY (placement, chunk_id)
        ) WITH (toast_tuple_target = 128)`);
      // Codes are compared for many rows and stay beside them; vectors and texts are read for few.
      await tx.unsafe(`
        ALTER TABLE ${name} ALTER COLUMN code SET STORAGE PLAIN,
          ALTER COLUMN embedding SET STORAGE EXTERNAL`);
      await tx.unsafe(`CREATE INDEX ON ${name} (placement, file_version_id)`);
      if (this.distributed) await distribute(tx, name, this.tables.versions);
      await tx`
        INSERT INTO ${tx(SCHEMA)}.tables (project_id, dimension)
        VALUES (${this.id}, ${dimension}) ON CONFLICT DO NOTHING`;
    });
    this.#dimensions.set(dimension, { centre: null });
  }
}

/**
 * Fails if another process has become the leader. None can until the transaction has ended; saving the
 * position in the same row does not conflict with this lock.
 */
export async function fence(tx: Transaction, epoch: number): Promise<void> {
  const [row] = await tx`SELECT 1 FROM ${tx(SCHEMA)}.state WHERE epoch = ${epoch} FOR KEY SHARE`;
  if (row === undefined) throw new LostLeadership();
}

/** Distributes a table in as many shards, and in the same places, as another one. */
export async function distribute(tx: Queryable, table: string, beside: string): Promise<void> {
  await tx`SELECT create_distributed_table(${table}::regclass, 'placement', colocate_with => ${beside})`;
}

interface ChunkBatch {
  readonly ids: string[];
  readonly versions: string[];
  readonly codes: Array<string | null>;
  readonly embeddings: string[];
  readonly rendered: string[];
}

const emptyBatch = (): ChunkBatch => ({
  ids: [],
  versions: [],
  codes: [],
  embeddings: [],
  rendered: [],
});

function addToBatch(
  batch: ChunkBatch,
  row: ChunkRow,
  vector: Float32Array,
  centre: Float32Array | null,
): void {
  batch.ids.push(row.id);
  batch.versions.push(row.file_version_id);
  batch.codes.push(centre === null ? null : codeOf(vector, centre));
  batch.embeddings.push(vectorText(vector));
  batch.rendered.push(renderChunk(row));
}
