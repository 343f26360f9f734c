import type { Sql } from "../../../db/client.ts";
import { VECTOR_GRAPH_MIN_ROWS } from "../../../domain/limits.ts";
import type { ChangeLog } from "../../../index/changes/change-log.ts";
import { readState } from "../catalogue.ts";
import { SCHEMA } from "../tables.ts";
import type { ReplicatorReport } from "./messages.ts";
import type { ReplicatedProjects } from "./replicated-projects.ts";

/** The report of every node on the engine's database. */
export async function readReport(sql: Sql, changes: ChangeLog): Promise<ReplicatorReport> {
  const state = await readState(sql);
  const newest = await changes.newest();
  const [row] = await sql<{ projects: number; vectors: number; backlog: number }[]>`
    SELECT count(DISTINCT c.id)::float8 AS projects,
      coalesce(sum(rows), 0)::float8 AS vectors,
      coalesce(sum(rows) FILTER (WHERE NOT graph AND rows >= ${VECTOR_GRAPH_MIN_ROWS}), 0)::float8
        AS backlog
    FROM ${sql(SCHEMA)}.copies c LEFT JOIN ${sql(SCHEMA)}.tables t ON t.copy_id = c.id
    WHERE c.state = 'serving'`;
  const { projects = 0, vectors = 0, backlog = 0 } = row ?? {};
  const lag = Math.max(0, newest.seq - state.seq);
  return {
    behind: state.complete ? null : "the vector database is being filled",
    lag,
    projects,
    vectors,
    backlog,
    complete: state.complete && lag === 0 && backlog === 0,
  };
}

/** The leader's report: one index per table. */
export async function readTables(sql: Sql, projects: ReplicatedProjects) {
  const tables = await sql<
    {
      project_id: string;
      dimension: number;
      rows: string;
      graph: boolean;
      calibrated: boolean;
      recall: number | null;
      samples: number | null;
    }[]
  >`SELECT c.project_id, t.dimension, t.rows, t.graph,
      t.candidates IS NOT NULL AS calibrated, t.recall, t.recall_samples AS samples
    FROM ${sql(SCHEMA)}.tables t JOIN ${sql(SCHEMA)}.copies c ON c.id = t.copy_id
    WHERE c.state = 'serving'`;
  const progress = new Map(projects.all().map(({ id, indexer }) => [id, indexer]));
  return tables.map(({ project_id, dimension, rows, graph, calibrated, recall, samples }) => {
    const indexer = progress.get(project_id);
    // A rebuild is pending until searches read the copy that it has built.
    const rebuild = projects.renewals.rebuildSeq(project_id) ?? Number.POSITIVE_INFINITY;
    const { reached } = projects;
    const vectors = Number(rows);
    const isSmall = vectors < VECTOR_GRAPH_MIN_ROWS;
    return {
      projectId: project_id,
      dimension,
      vectors,
      documents: 0,
      bytes: 0,
      graphed: graph || isSmall ? vectors : 0,
      seq: Math.min(rebuild - 1, indexer?.applied(reached) ?? reached),
      waitingMs: Math.round(indexer?.announcedMs ?? 0),
      settled: (isSmall || (graph && calibrated)) && indexer?.isBusy !== true,
      ...(recall === null || samples === null ? {} : { recall, samples }),
    };
  });
}
