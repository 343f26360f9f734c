import type { Queryable, Sql, Transaction } from "../../../db/client.ts";
import { readAhead } from "../../../shared/read-ahead.ts";
import { floatsOf } from "../../../shared/vector.ts";
import { renderChunk, vectorOf } from "../../indexing/versions/chunk-content.ts";
import type { ChunkRow, EmptyVersionRow } from "../../indexing/versions/version-index.ts";
import { codeLength, codeOf } from "../codes.ts";
import { SCHEMA, tablesOf } from "../tables.ts";
import { CopyRows, copyRows } from "./binary-copy.ts";
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

/** Rows are written when so many bytes of them have been read: little enough that reading goes on beside most writes. */
const VECTOR_COPY_BYTES = 1_048_576;

/** A page of 8 KiB holds a row with a code and elements of 2 bytes up to this dimension. */
const VECTOR_INLINE_DIMENSION = 3_072;

const CHUNK_COLUMNS = [
  ...["placement", "chunk_id", "file_version_id", "code", "embedding", "rendered"],
] as const;

interface TableState {
  readonly thresholds: Float32Array | null;
}

/** Rows of one dimension and placement that have been read and not written. */
interface Pending {
  readonly dimension: number;
  readonly placement: number;
  readonly ids: string[];
  readonly rows: CopyRows;
}

/**
 * The leader's writes to one copy of a project. Every transaction holds the row of the leader's epoch, so that
 * a leader that was replaced writes nothing. Calls for one copy do not overlap.
 */
export class ProjectStore {
  readonly tables: ReturnType<typeof tablesOf>;
  readonly #dimensions = new Map<number, TableState>();

  constructor(
    private readonly sql: Sql,
    readonly copyId: string,
    private readonly epoch: number,
    readonly placements: readonly number[],
    private readonly distributed: boolean,
  ) {
    this.tables = tablesOf(copyId);
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
    const rows = await this.sql<{ dimension: number; thresholds: Uint8Array | null }[]>`
      SELECT dimension, thresholds FROM ${this.sql(SCHEMA)}.tables WHERE copy_id = ${this.copyId}`;
    for (const { dimension, thresholds } of rows) {
      this.#dimensions.set(dimension, {
        thresholds: thresholds === null ? null : floatsOf(thresholds),
      });
    }
  }

  dimensions(): number[] {
    return [...this.#dimensions.keys()];
  }

  setThresholds(dimension: number, thresholds: Float32Array): void {
    this.#dimensions.set(dimension, { thresholds });
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

  /** Null while rows are added without a code. */
  thresholdsOf(dimension: number): Float32Array | null {
    return this.#dimensions.get(dimension)?.thresholds ?? null;
  }

  /**
   * Stores chunks: the next ones are read while some are written. Those that are stored already are replaced
   * by the same: file versions never change.
   * @returns the ids of chunks that no search could score
   */
  async addChunks(
    batches: AsyncIterable<ReadonlyArray<ChunkRow | EmptyVersionRow>>,
    counts: VersionCounts,
  ): Promise<readonly string[]> {
    const unusable: string[] = [];
    let pending = new Map<string, Pending>();
    let bytes = 0;
    let writing = Promise.resolve();
    const write = async () => {
      await writing;
      writing = this.#insertAll([...pending.values()]);
      // It is awaited by the next call, before which reading may fail.
      writing.catch(() => {});
      pending = new Map();
      bytes = 0;
    };
    try {
      for await (const rows of readAhead(batches)) {
        for (const row of rows) {
          counts.note(row.file_version_id);
          if (row.id === null) continue;
          const vector = vectorOf(row);
          if (vector === null) {
            unusable.push(row.id);
            continue;
          }
          await this.#ensureTable(row.dimension);
          bytes += this.#addTo(pending, row, vector);
          counts.add(row.file_version_id, row.dimension);
        }
        if (bytes >= VECTOR_COPY_BYTES) await write();
      }
      await write();
    } finally {
      // Also after a failure: a further attempt must not overlap with this one.
      await writing;
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
            WHERE copy_id = ${this.copyId} AND dimension = ${dimension}`;
        }
      }
    });
  }

  /** Encodes a row. Returns its bytes. */
  #addTo(pending: Map<string, Pending>, row: ChunkRow, vector: Float32Array): number {
    const { id, dimension, file_version_id } = row;
    const placement = placementOf(file_version_id, this.placements);
    const key = `${dimension} ${placement}`;
    const group = pending.get(key) ?? { dimension, placement, ids: [], rows: new CopyRows() };
    pending.set(key, group);
    const thresholds = this.thresholdsOf(dimension);
    group.ids.push(id);
    const { rows } = group;
    const before = rows.length;
    rows.row(CHUNK_COLUMNS.length).int4(placement).uuid(id).uuid(file_version_id);
    if (thresholds === null) rows.null();
    else rows.bit(codeOf(vector, thresholds));
    rows.vector(vector).text(renderChunk(row));
    return rows.length - before;
  }

  async #insertAll(groups: readonly Pending[]): Promise<void> {
    await Promise.all(groups.map((group) => this.#insert(group)));
  }

  async #insert({ dimension, placement, ids, rows }: Pending): Promise<void> {
    const table = this.tables.chunks(dimension);
    await this.write(async (tx) => {
      // An attempt that was interrupted may have left some of them.
      const { count } = await tx`
        DELETE FROM ${tx(table)} WHERE placement = ${placement} AND chunk_id = ANY(${ids}::uuid[])`;
      await copyRows(tx, table, CHUNK_COLUMNS, rows);
      await tx`
        UPDATE ${tx(SCHEMA)}.tables SET rows = rows + ${rows.count - count}
        WHERE copy_id = ${this.copyId} AND dimension = ${dimension}`;
    });
  }

  async #ensureTable(dimension: number): Promise<void> {
    if (this.#dimensions.has(dimension)) return;
    await this.write(async (tx) => {
      const name = this.tables.chunks(dimension);
      await tx.unsafe(`
        CREATE TABLE IF NOT EXISTS ${name} (
          placement integer NOT NULL, chunk_id uuid NOT NULL, file_version_id uuid NOT NULL,
          code bit(${codeLength(dimension)}),
          half halfvec(${dimension}) GENERATED ALWAYS AS (l2_normalize(embedding)::halfvec(${dimension})) STORED,
          embedding vector(${dimension}) NOT NULL, rendered text NOT NULL,
          PRIMARY KEY (placement, chunk_id)
        ) WITH (toast_tuple_target = 128)`);
      // What is compared stays in the row as far as a page holds it. Vectors and texts are read for hits only.
      const half = dimension <= VECTOR_INLINE_DIMENSION ? "PLAIN" : "EXTERNAL";
      await tx.unsafe(`
        ALTER TABLE ${name} ALTER COLUMN code SET STORAGE PLAIN, ALTER COLUMN half SET STORAGE ${half},
          ALTER COLUMN embedding SET STORAGE EXTERNAL`);
      await tx.unsafe(`CREATE INDEX ON ${name} (placement, file_version_id)`);
      if (this.distributed) await distribute(tx, name, this.tables.versions);
      await tx`
        INSERT INTO ${tx(SCHEMA)}.tables (copy_id, dimension)
        VALUES (${this.copyId}, ${dimension}) ON CONFLICT DO NOTHING`;
    });
    this.#dimensions.set(dimension, { thresholds: null });
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
