import type { Queryable, Transaction } from "../../../db/client.ts";
import { codeLength } from "../codes.ts";
import { type CopyTables, SCHEMA } from "../tables.ts";

/** A page of 8 KiB holds a row with a code and elements of 2 bytes up to this dimension. */
const VECTOR_INLINE_DIMENSION = 3_072;

interface NewTable {
  readonly copyId: string;
  readonly tables: CopyTables;
  readonly dimension: number;
  readonly distributed: boolean;
  /** The thresholds of its codes; null if its first rows have no code. */
  readonly thresholds: Float32Array | null;
}

/** Creates the table for the chunks of one dimension in a copy of a project. */
export async function createChunks(tx: Transaction, table: NewTable): Promise<void> {
  const { copyId, tables, dimension, distributed, thresholds } = table;
  const name = tables.chunks(dimension);
  await tx.unsafe(`
    CREATE TABLE IF NOT EXISTS ${name} (
      placement integer NOT NULL, chunk_id uuid NOT NULL, file_version_id uuid NOT NULL,
      code bit(${codeLength(dimension)}),
      half halfvec(${dimension}) GENERATED ALWAYS AS (l2_normalize(embedding)::halfvec(${dimension})) STORED,
      embedding vector(${dimension}) NOT NULL, rendered text NOT NULL,
      PRIMARY KEY (placement, chunk_id)
    ) WITH (toast_tuple_target = 128)`);
  // The compared columns, code and half, stay in the row if a page holds them. Vectors and texts are read for hits
  // only.
  const half = dimension <= VECTOR_INLINE_DIMENSION ? "PLAIN" : "EXTERNAL";
  await tx.unsafe(`
    ALTER TABLE ${name} ALTER COLUMN code SET STORAGE PLAIN, ALTER COLUMN half SET STORAGE ${half},
      ALTER COLUMN embedding SET STORAGE EXTERNAL`);
  await tx.unsafe(`CREATE INDEX ON ${name} (placement, file_version_id)`);
  if (distributed) await distribute(tx, name, tables.versions);
  const bytes = thresholds === null ? null : bytesOf(thresholds);
  await tx`
    INSERT INTO ${tx(SCHEMA)}.tables (copy_id, dimension, thresholds_id, thresholds, coded)
    VALUES (${copyId}, ${dimension}, ${bytes === null ? null : crypto.randomUUID()}, ${bytes}, ${bytes !== null})
    ON CONFLICT DO NOTHING`;
}

/** Thresholds as they are stored. */
export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Distributes a table in shards that are colocated with those of another table. */
export async function distribute(tx: Queryable, table: string, other: string): Promise<void> {
  await tx`SELECT create_distributed_table(${table}::regclass, 'placement', colocate_with => ${other})`;
}
