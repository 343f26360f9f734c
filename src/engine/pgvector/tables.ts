/** The schema of everything that the engine keeps in its database. */
export const SCHEMA = "tessera_vectors";

/** The advisory lock of the session that writes vectors. */
export const LEADER_LOCK = [7305, 3] as const;

/** The advisory lock of the session that moves placements between workers. */
export const REBALANCE_LOCK = [7305, 4] as const;

/** The sequence number at which a range that is still valid ends: the largest bigint. */
export const OPEN_END = "9223372036854775807";

/** The tables of one copy of a project. All are distributed by their column `placement` where Citus is present. */
export interface CopyTables {
  /** `(placement, id, counts, added_at)`: the file versions whose chunks are stored completely. */
  readonly versions: string;
  /** `(placement, scope_id, file_version_id, from_seq, to_seq)`: file versions of scopes, each with its range. */
  readonly scopes: string;
  /** `(placement, chunk_id, file_version_id, code, half, embedding, rendered)` of one dimension. */
  chunks(dimension: number): string;
  /** The graph over the codes of one dimension. */
  graph(dimension: number): string;
}

/** The names of a copy's tables, qualified and ready for SQL: they need no quotes. */
export function tablesOf(copyId: string): CopyTables {
  const id = copyId.replaceAll("-", "");
  return {
    versions: `${SCHEMA}.v_${id}`,
    scopes: `${SCHEMA}.s_${id}`,
    chunks: (dimension) => `${SCHEMA}.c_${id}_${dimension}`,
    graph: (dimension) => `g_${id}_${dimension}`,
  };
}
