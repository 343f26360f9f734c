import type { Sql, Transaction } from "../../../db/client.ts";
import { VECTOR_CODED_MIN_ROWS } from "../../../domain/limits.ts";
import { floatsOf } from "../../../domain/vector.ts";
import { renderChunk, vectorOf } from "../../../index/versions/chunk-content.ts";
import type { ChunkRow, EmptyVersionRow } from "../../../index/versions/version-index.ts";
import { readAhead } from "../../../ops/read-ahead.ts";
import { codeOf, thresholdsOf } from "../codes.ts";
import { SCHEMA, tablesOf } from "../tables.ts";
import { CopyRows, copyRows } from "./binary-copy.ts";
import { createChunks } from "./create-chunks.ts";
import { byPlacement, placementOf } from "./placements.ts";
import type { VersionCounts } from "./version-counts.ts";

/** Another process has become the leader, so this one must stop writing. */
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

/** Bytes of read rows that are written at a time: few enough that reading goes on during most writes. */
const VECTOR_COPY_BYTES = 4_194_304;

const CHUNK_COLUMNS = [
  "placement",
  "chunk_id",
  "file_version_id",
  "code",
  "embedding",
  "rendered",
] as const;

interface TableState {
  /** Null while rows are added without a code. */
  readonly thresholds: Float32Array | null;
  /** Every row has a code. */
  readonly coded: boolean;
}

/** Draws vectors of a dimension from the versions to be stored. */
type Sample = (dimension: number) => Promise<readonly Float32Array[]>;

/** Rows of one dimension and placement that have been read and not written. */
interface Pending {
  readonly dimension: number;
  readonly rows: CopyRows;
}

/**
 * The leader's writes to one copy of a project. Every transaction locks the row of the leader's epoch, so a replaced
 * leader writes nothing. Calls for one copy do not overlap.
 */
export class ProjectStore {
  readonly tables: ReturnType<typeof tablesOf>;
  readonly #dimensions = new Map<number, TableState>();
  /**
   * True if an interrupted attempt may have stored versions in part. Tables that were created since cannot have such
   * versions, because a store that has failed is opened again.
   */
  #hasLeftovers = false;
  /** The writes of rows that have been read and are not stored yet. */
  #writing = Promise.resolve();

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

  /** Reads the tables that an earlier leader has created. */
  async open(): Promise<void> {
    const rows = await this.sql<
      { dimension: number; thresholds: Uint8Array | null; coded: boolean }[]
    >`
      SELECT dimension, thresholds, coded FROM ${this.sql(SCHEMA)}.tables
      WHERE copy_id = ${this.copyId}`;
    this.#hasLeftovers = rows.length > 0;
    for (const { dimension, thresholds, coded } of rows) {
      this.#dimensions.set(dimension, {
        thresholds: thresholds === null ? null : floatsOf(thresholds),
        coded,
      });
    }
  }

  dimensions(): number[] {
    return [...this.#dimensions.keys()];
  }

  /** False while a table has rows without a code. */
  get isCoded(): boolean {
    return [...this.#dimensions.values()].every(({ coded }) => coded);
  }

  setThresholds(dimension: number, thresholds: Float32Array, coded: boolean): void {
    this.#dimensions.set(dimension, { thresholds, coded });
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

  /** Removes chunks that an interrupted attempt has left of versions that are not stored completely. */
  prepare(versions: readonly string[]): void {
    if (this.#hasLeftovers) this.#writeNext(() => this.removeVersions(versions));
  }

  /**
   * Stores chunks. The next ones are read while some are written. The last ones are still being written when this
   * returns.
   * @returns the ids of chunks that no search could score
   */
  async addChunks(
    batches: AsyncIterable<ReadonlyArray<ChunkRow | EmptyVersionRow>>,
    counts: VersionCounts,
    sample: Sample,
  ): Promise<readonly string[]> {
    const unusable: string[] = [];
    let pending = new Map<string, Pending>();
    let bytes = 0;
    const write = async () => {
      await this.#writing;
      const groups = [...pending.values()];
      this.#writeNext(() => this.#insertAll(groups));
      pending = new Map();
      bytes = 0;
    };
    for await (const rows of readAhead(batches)) {
      for (const row of rows) {
        counts.note(row.file_version_id);
        if (row.id === null) continue;
        const vector = vectorOf(row);
        if (vector === null) {
          unusable.push(row.id);
          continue;
        }
        await this.#ensureTable(vector.length, sample);
        bytes += this.#addTo(pending, row, vector);
        counts.add(row.file_version_id, vector.length);
      }
      if (bytes >= VECTOR_COPY_BYTES) await write();
    }
    await write();
    return unusable;
  }

  /** Records these versions as stored completely, after the writes of their chunks. */
  addVersions(counts: VersionCounts): void {
    this.#writeNext(() => this.write((tx) => this.#insertVersions(tx, counts)));
  }

  /** Resolves when all that was added is stored. A failed write rejects the next call only. */
  async settled(): Promise<void> {
    const writing = this.#writing;
    this.#writing = Promise.resolve();
    await writing;
  }

  #writeNext(work: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(async () => void (await work()));
    // The next caller that awaits the write reports a failure. Until then it must not count as unhandled.
    this.#writing.catch(() => {});
  }

  async #insertVersions(tx: Transaction, counts: VersionCounts): Promise<void> {
    for (const [placement, ids] of byPlacement(counts.versions, this.placements)) {
      if (ids.length === 0) continue;
      const sizes = ids.map((id) => `{${counts.of(id).join(",")}}`);
      await tx`
        INSERT INTO ${tx(this.tables.versions)} (placement, id, counts)
        SELECT ${placement}::int, u.id, u.counts::int[]
        FROM unnest(${ids}::uuid[], ${sizes}::text[]) AS u (id, counts)
        ON CONFLICT DO NOTHING`;
    }
  }

  /** Removes versions and their chunks, including versions that are stored in part. */
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
          if (count === 0) continue;
          await tx`
            UPDATE ${tx(SCHEMA)}.tables SET rows = rows - ${count}
            WHERE copy_id = ${this.copyId} AND dimension = ${dimension}`;
        }
      }
    });
  }

  /** Encodes a row. Returns its bytes. */
  #addTo(pending: Map<string, Pending>, row: ChunkRow, vector: Float32Array): number {
    const { id, file_version_id } = row;
    const dimension = vector.length;
    const placement = placementOf(file_version_id, this.placements);
    const key = `${dimension} ${placement}`;
    const group = pending.get(key) ?? { dimension, rows: new CopyRows() };
    pending.set(key, group);
    const thresholds = this.thresholdsOf(dimension);
    const { rows } = group;
    const before = rows.length;
    rows.row(CHUNK_COLUMNS.length).int4(placement).uuid(id).uuid(file_version_id);
    if (thresholds === null) rows.null();
    else rows.bit(codeOf(vector, thresholds));
    rows.vector(vector).text(renderChunk(row));
    return rows.length - before;
  }

  async #insertAll(groups: readonly Pending[]): Promise<void> {
    const inserts = groups.map((group) => this.#insert(group));
    // All inserts have ended before a failure is reported.
    await Promise.allSettled(inserts);
    await Promise.all(inserts);
  }

  async #insert({ dimension, rows }: Pending): Promise<void> {
    const table = this.tables.chunks(dimension);
    await this.write(async (tx) => {
      await copyRows(tx, table, CHUNK_COLUMNS, rows);
      await tx`
        UPDATE ${tx(SCHEMA)}.tables SET rows = rows + ${rows.count}
        WHERE copy_id = ${this.copyId} AND dimension = ${dimension}`;
    });
  }

  /** Creates the table of a dimension unless it is there. Rows have codes from the first on if the sample suffices. */
  async #ensureTable(dimension: number, sample: Sample): Promise<void> {
    if (this.#dimensions.has(dimension)) return;
    const vectors = await sample(dimension);
    const thresholds = vectors.length < VECTOR_CODED_MIN_ROWS ? null : thresholdsOf(vectors);
    const { copyId, tables, distributed } = this;
    await this.write((tx) =>
      createChunks(tx, { copyId, tables, distributed, dimension, thresholds }),
    );
    this.#dimensions.set(dimension, { thresholds, coded: thresholds !== null });
  }
}

/**
 * Fails if another process has become the leader. No process can become it until the transaction has ended. Saving the
 * position in the same row does not conflict with this lock.
 */
export async function fence(tx: Transaction, epoch: number): Promise<void> {
  const [row] = await tx`SELECT 1 FROM ${tx(SCHEMA)}.state WHERE epoch = ${epoch} FOR KEY SHARE`;
  if (row === undefined) throw new LostLeadership();
}
