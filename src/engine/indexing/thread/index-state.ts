import type { Sql } from "../../../db/client.ts";
import { INDEX_NODE_EXPIRY_SECONDS } from "../../../shared/limits.ts";
import type { VersionIndex } from "../versions/version-index.ts";
import type { IndexRecall } from "./messages.ts";

/** How far the indexes of a project have come. */
interface ProjectProgress {
  readonly projectId: string;
  /** The last change that searches see. */
  readonly seq: number;
  /** How long the oldest announced version has been waiting to be indexed, in milliseconds. */
  readonly waitingMs: number;
  /** True when it is loaded and nothing is being added. */
  readonly idle: boolean;
}

interface StateRow {
  readonly progress: ProjectProgress;
  /** 0 for the text index. */
  readonly dimension: number;
  readonly vectors: number;
  readonly graphed: number;
  readonly documents: number;
  readonly bytes: number;
  readonly settled: boolean;
}

function keyOf(projectId: string, dimension: number): string {
  return `${projectId} ${dimension}`;
}

function rowsOf(
  projects: readonly ProjectProgress[],
  indexes: readonly VersionIndex[],
): StateRow[] {
  return projects.flatMap((progress) =>
    indexes
      .flatMap((index) => index.stats(progress.projectId))
      .map(({ dimension, entries, maintained, bytes, settled }) => {
        const rest = { progress, dimension, bytes, settled: settled && progress.idle };
        return dimension === 0
          ? { ...rest, vectors: 0, graphed: 0, documents: entries }
          : { ...rest, vectors: entries, graphed: maintained, documents: 0 };
      }),
  );
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

  /** Replaces this node's rows, and deletes those of nodes that have stopped reporting. */
  async write(projects: readonly ProjectProgress[]): Promise<void> {
    const rows = rowsOf(projects, this.indexes);
    const keys = rows.map((row) => keyOf(row.progress.projectId, row.dimension));
    const known = new Set(keys);
    for (const key of this.#recalls.keys()) if (!known.has(key)) this.#recalls.delete(key);
    const recalls = keys.map((key) => this.#recalls.get(key));
    await this.sql.begin(async (tx) => {
      await tx`
        DELETE FROM index_state WHERE node_id = ${this.#nodeId}
        OR updated_at < now() - make_interval(secs => ${INDEX_NODE_EXPIRY_SECONDS})`;
      await tx`
        INSERT INTO index_state (node_id, project_id, dimension, seq, waiting_ms, vectors, graphed,
          documents, memory_bytes, settled, recall, recall_samples)
        SELECT ${this.#nodeId}, u.*
        FROM unnest(${rows.map((r) => r.progress.projectId)}::uuid[],
          ${rows.map((r) => r.dimension)}::int[], ${rows.map((r) => r.progress.seq)}::bigint[],
          ${rows.map((r) => r.progress.waitingMs)}::bigint[],
          ${rows.map((r) => r.vectors)}::bigint[], ${rows.map((r) => r.graphed)}::bigint[],
          ${rows.map((r) => r.documents)}::bigint[], ${rows.map((r) => r.bytes)}::bigint[],
          ${rows.map((r) => String(r.settled))}::text[]::boolean[],
          ${recalls.map((r) => r?.recall ?? null)}::real[],
          ${recalls.map((r) => r?.samples ?? null)}::int[]) AS u`;
    });
  }

  async clear(): Promise<void> {
    await this.sql`DELETE FROM index_state WHERE node_id = ${this.#nodeId}`;
  }
}
