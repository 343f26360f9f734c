import type { Queryable, Sql } from "../../db/client.ts";
import { INDEX_NODE_EXPIRY_SECONDS, INDEX_STATE_FRESH_SECONDS } from "../../domain/limits.ts";

/** Time for which a parked task is reported after its last failure. */
export const PARKED_TOLD_SECONDS = 3_600;

/** An index of a project, as its server reports it. */
interface IndexReport {
  readonly projectId: string;
  /** 0 for the text index. */
  readonly dimension: number;
  /** The last change that searches see. */
  readonly seq: number;
  /** How long the oldest announced version has been waiting to be indexed, in milliseconds. */
  readonly waitingMs: number;
  readonly vectors: number;
  /** Vectors that are in the graph, or need none. */
  readonly graphed: number;
  readonly documents: number;
  readonly bytes: number;
  /** True when nothing is being added, built or calibrated. */
  readonly settled: boolean;
  /** The recall of live searches, once it was measured. */
  readonly recall?: number | undefined;
  readonly samples?: number | undefined;
}

/** Publishes how far the indexes of this server have come in the table index_state. */
export class IndexReports {
  readonly #nodeId = crypto.randomUUID();
  /** The time of the last request for a report that this server has heard, in seconds since 1970. */
  #requestedAt = 0;

  constructor(private readonly sql: Sql) {}

  /** The next report answers a request of this time. */
  answer(requestedAt: number): void {
    this.#requestedAt = Math.max(this.#requestedAt, requestedAt);
  }

  /**
   * Replaces this server's rows, and deletes those of servers that have stopped reporting.
   *
   * @param seq the last change that this server has read. It has loaded no other projects by then
   */
  async write(reports: readonly IndexReport[], seq: number): Promise<void> {
    await this.sql.begin(async (tx) => {
      await tx`
        DELETE FROM index_nodes
        WHERE updated_at < now() - make_interval(secs => ${INDEX_NODE_EXPIRY_SECONDS})`;
      await tx`
        INSERT INTO index_nodes (id, seq, answered)
        VALUES (${this.#nodeId}, ${seq}, ${this.#requestedAt})
        ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, answered = excluded.answered,
          updated_at = excluded.updated_at`;
      await tx`
        DELETE FROM index_state WHERE node_id = ${this.#nodeId}
        OR updated_at < now() - make_interval(secs => ${INDEX_NODE_EXPIRY_SECONDS})`;
      await tx`
        INSERT INTO index_state (node_id, project_id, dimension, seq, waiting_ms, vectors, graphed,
          documents, memory_bytes, settled, recall, recall_samples)
        SELECT ${this.#nodeId}, r."projectId", r.dimension, r.seq, r."waitingMs", r.vectors,
          r.graphed, r.documents, r.bytes, r.settled, r.recall, r.samples
        FROM jsonb_to_recordset(${JSON.stringify(reports)}::text::jsonb) AS r ("projectId" uuid,
          dimension int, seq bigint, "waitingMs" bigint, vectors bigint, graphed bigint,
          documents bigint, bytes bigint, settled boolean, recall real, samples int)`;
    });
  }

  async clear(): Promise<void> {
    await this.sql`DELETE FROM index_nodes WHERE id = ${this.#nodeId}`;
    await this.sql`DELETE FROM index_state WHERE node_id = ${this.#nodeId}`;
  }
}

/** A report as other processes read it. Counts are below 2^53, which JavaScript represents exactly. */
interface StoredReport extends Omit<IndexReport, "waitingMs" | "recall" | "samples"> {
  readonly server: string;
  /** The project's slug; its id once it is deleted. */
  readonly project: string;
  /** Changes of the project that searches do not see yet. */
  readonly pending: number;
  /** `bytes` for people. */
  readonly memory: string;
  readonly recall: number | null;
  readonly samples: number | null;
  readonly updatedAt: Date;
  readonly ageSeconds: number;
  /** False when the server may have stopped. */
  readonly fresh: boolean;
}

/** The reports of servers about a project, or about all, by server, project and dimension. */
export async function readIndexReports(
  sql: Queryable,
  projectId?: string,
): Promise<StoredReport[]> {
  return await sql<StoredReport[]>`
    SELECT s.node_id AS server, s.project_id AS "projectId",
      coalesce(p.slug, s.project_id::text) AS project, s.dimension, s.seq::float8 AS seq,
      (SELECT count(*) FROM change_log c WHERE c.project_id = s.project_id AND c.seq > s.seq)::float8
        AS pending,
      s.vectors::float8 AS vectors, s.graphed::float8 AS graphed, s.documents::float8 AS documents,
      s.memory_bytes::float8 AS bytes, pg_size_pretty(s.memory_bytes) AS memory, s.settled,
      s.recall::float8 AS recall, s.recall_samples AS samples, s.updated_at AS "updatedAt",
      extract(epoch FROM now() - s.updated_at)::integer AS "ageSeconds",
      s.updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS}) AS fresh
    FROM index_state s LEFT JOIN projects p ON p.id = s.project_id
    ${projectId === undefined ? sql`` : sql`WHERE s.project_id = ${projectId}`}
    ORDER BY s.node_id, project, s.dimension`;
}

/** A server's id for people. */
export function shortId(server: string): string {
  return server.slice(0, 8);
}

/** True when the index has all changes, and its graph is built and calibrated. */
export function isComplete({ settled, vectors, graphed, pending }: StoredReport): boolean {
  return settled && vectors === graphed && pending === 0;
}

/** A task of the index that has failed or has ended its thread, twice each time. */
interface ParkedTask {
  readonly projectId: string;
  readonly slug: string;
  readonly task: string;
  readonly failures: number;
  readonly parkedAt: Date;
}

/** Counts a parked task, and forgets those that were last parked long ago. */
export async function noteParkedTask(
  sql: Queryable,
  projectId: string,
  task: string,
): Promise<void> {
  await sql`
    DELETE FROM parked_tasks
    WHERE parked_at < now() - make_interval(secs => ${PARKED_TOLD_SECONDS})`;
  // A project that is gone has no tasks.
  await sql`
    INSERT INTO parked_tasks AS t (project_id, task)
    SELECT id, ${task} FROM projects WHERE id = ${projectId} FOR KEY SHARE
    ON CONFLICT (project_id, task) DO UPDATE SET failures = t.failures + 1, parked_at = now()`;
}

/** The recently parked tasks of a project, or of all, by project and task. */
export async function readParkedTasks(sql: Queryable, projectId?: string): Promise<ParkedTask[]> {
  return await sql<ParkedTask[]>`
    SELECT p.id AS "projectId", p.slug, t.task, t.failures::float8 AS failures,
      t.parked_at AS "parkedAt"
    FROM parked_tasks t JOIN projects p ON p.id = t.project_id
    WHERE t.parked_at > now() - make_interval(secs => ${PARKED_TOLD_SECONDS})
      ${projectId === undefined ? sql`` : sql`AND t.project_id = ${projectId}`}
    ORDER BY p.slug, t.task`;
}
