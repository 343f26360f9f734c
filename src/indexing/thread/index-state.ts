import type { Sql } from "../../db/client.ts";
import { INDEX_NODE_EXPIRY_SECONDS } from "../../shared/limits.ts";
import type { VersionIndex } from "../versions/version-index.ts";
import type { IndexRecall } from "./messages.ts";

interface StateRow {
  readonly project_id: string;
  readonly dimension: number;
  readonly vectors: number;
  readonly graphed: number;
  readonly memory_bytes: number;
}

function keyOf(projectId: string, dimension: number): string {
  return `${projectId} ${dimension}`;
}

function rowsOf(projectIds: readonly string[], indexes: readonly VersionIndex[]): StateRow[] {
  const rows: StateRow[] = [];
  for (const project_id of projectIds) {
    for (const index of indexes) {
      for (const { dimension, entries, maintained, bytes } of index.stats(project_id)) {
        if (dimension === 0) continue;
        rows.push({
          project_id,
          dimension,
          vectors: entries,
          graphed: maintained,
          memory_bytes: bytes,
        });
      }
    }
  }
  return rows;
}

/** Publishes the state of this node's indexes to other processes in the table index_state. */
export class IndexState {
  readonly #nodeId = crypto.randomUUID();
  /** By project and dimension. */
  readonly #recalls = new Map<string, IndexRecall>();

  constructor(
    private readonly sql: Sql,
    private readonly indexes: readonly VersionIndex[],
  ) {}

  /** Keeps the recall of an index for the next rows. */
  noteRecall(recall: IndexRecall): void {
    this.#recalls.set(keyOf(recall.projectId, recall.dimension), recall);
  }

  /**
   * Replaces this node's rows, and deletes those of nodes that have stopped reporting. `seqs` has the
   * last change of each project that searches see.
   */
  async write(seqs: ReadonlyMap<string, number>): Promise<void> {
    const rows = rowsOf([...seqs.keys()], this.indexes);
    const keys = new Set(rows.map((row) => keyOf(row.project_id, row.dimension)));
    for (const key of this.#recalls.keys()) if (!keys.has(key)) this.#recalls.delete(key);
    const recalls = rows.map((row) => this.#recalls.get(keyOf(row.project_id, row.dimension)));
    await this.sql.begin(async (tx) => {
      await tx`
        DELETE FROM index_state WHERE node_id = ${this.#nodeId}
        OR updated_at < now() - make_interval(secs => ${INDEX_NODE_EXPIRY_SECONDS})`;
      await tx`
        INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
          recall, recall_samples)
        SELECT ${this.#nodeId}, u.project_id, u.dimension, u.seq, u.vectors, u.graphed, u.bytes,
          u.recall, u.samples
        FROM unnest(${rows.map((r) => r.project_id)}::uuid[], ${rows.map((r) => r.dimension)}::int[],
          ${rows.map((r) => seqs.get(r.project_id) as number)}::bigint[],
          ${rows.map((r) => r.vectors)}::bigint[], ${rows.map((r) => r.graphed)}::bigint[],
          ${rows.map((r) => r.memory_bytes)}::bigint[],
          ${recalls.map((r) => r?.recall ?? null)}::real[],
          ${recalls.map((r) => r?.samples ?? null)}::int[])
          AS u (project_id, dimension, seq, vectors, graphed, bytes, recall, samples)`;
    });
  }

  async clear(): Promise<void> {
    await this.sql`DELETE FROM index_state WHERE node_id = ${this.#nodeId}`;
  }
}
