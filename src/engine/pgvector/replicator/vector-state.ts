import type { Sql } from "../../../db/client.ts";
import { VECTOR_GRAPH_MIN_ROWS } from "../../../shared/limits.ts";
import type { ChangeLog } from "../../indexing/changes/change-log.ts";
import { readState } from "../catalogue.ts";
import { SCHEMA } from "../tables.ts";
import type { Feed } from "./feed.ts";
import type { FeedReport } from "./messages.ts";

/** What every node reports of the engine's database. */
export async function readReport(sql: Sql, changes: ChangeLog): Promise<FeedReport> {
  const state = await readState(sql);
  const newest = await changes.newest();
  const [row] = await sql<{ projects: number; vectors: number; backlog: number }[]>`
    SELECT (SELECT count(*) FROM ${sql(SCHEMA)}.projects)::float8 AS projects,
      coalesce(sum(rows), 0)::float8 AS vectors,
      coalesce(sum(rows) FILTER (WHERE NOT graph AND rows >= ${VECTOR_GRAPH_MIN_ROWS}), 0)::float8
        AS backlog
    FROM ${sql(SCHEMA)}.tables`;
  const { projects = 0, vectors = 0, backlog = 0 } = row ?? {};
  const lag = Math.max(0, newest.seq - state.seq);
  return {
    behind: state.complete ? null : "the vector database is being filled",
    ...{ lag, projects, vectors, backlog },
    complete: state.complete && lag === 0 && backlog === 0,
  };
}

/** Publishes the leader's progress in the platform's table index_state, one row per table. */
export class VectorIndexState {
  readonly #nodeId = crypto.randomUUID();

  constructor(
    private readonly source: Sql,
    private readonly sql: Sql,
  ) {}

  async write(feed: Feed): Promise<void> {
    const { sql, source } = this;
    const tables = await sql<
      { project_id: string; dimension: number; rows: string; graph: boolean }[]
    >`SELECT project_id, dimension, rows, graph FROM ${sql(SCHEMA)}.tables`;
    const progress = new Map(feed.projects().map((project) => [project.id, project]));
    const rows = tables.map(({ project_id, dimension, rows: stored, graph }) => {
      const project = progress.get(project_id);
      const pending = project?.oldestPending;
      const vectors = Number(stored);
      const isSettled = graph || vectors < VECTOR_GRAPH_MIN_ROWS;
      return {
        ...{ project_id, dimension, vectors, graphed: isSettled ? vectors : 0 },
        seq: pending === undefined ? feed.reached : pending - 1,
        waiting_ms: Math.round(project?.announcedMs ?? 0),
        settled: isSettled && project?.isBusy !== true,
      };
    });
    await source.begin(async (tx) => {
      await tx`DELETE FROM index_state WHERE node_id = ${this.#nodeId}`;
      await tx`
        INSERT INTO index_state (node_id, project_id, dimension, seq, waiting_ms, vectors, graphed,
          documents, memory_bytes, settled)
        SELECT ${this.#nodeId}, r.project_id, r.dimension, r.seq, r.waiting_ms, r.vectors, r.graphed,
          0, 0, r.settled
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) AS r (project_id uuid,
          dimension int, seq bigint, waiting_ms bigint, vectors bigint, graphed bigint, settled boolean)`;
    });
  }

  async clear(): Promise<void> {
    await this.source`DELETE FROM index_state WHERE node_id = ${this.#nodeId}`;
  }
}
