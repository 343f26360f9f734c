import type { Sql } from "../../../db/client.ts";
import {
  INDEX_UNSCOPED_KEEP_MS,
  VECTOR_CODED_MIN_ROWS,
  VECTOR_GRAPH_MIN_ROWS,
} from "../../../domain/limits.ts";
import type { Log } from "../../../ops/observability/log.ts";
import { OPEN_END, SCHEMA } from "../tables.ts";
import { calibrate, VECTOR_RECALIBRATED_GROWTH } from "./calibrate.ts";
import { giveCodes } from "./give-codes.ts";
import { type CopyRole, dropRetired } from "./projects-store.ts";
import type { ReplicatedProjects } from "./replicated-projects.ts";
import type { ProjectStore } from "./store.ts";

/** Further processes that build a graph, as far as the server's settings allow them. */
const VECTOR_GRAPH_WORKERS = 8;
/** Twice pgvector's default: searches find the same with fewer steps. */
const VECTOR_GRAPH_EF_CONSTRUCTION = 128;

interface TableRow {
  readonly project_id: string;
  readonly role: CopyRole;
  readonly dimension: number;
  readonly rows: string;
  readonly graph: boolean;
}

/** The copy that was serving, and the sequence numbers of its scopes. */
interface SeenCopy {
  readonly copyId: string;
  readonly applied: ReadonlyMap<string, string>;
}

/** Background work of the leader: codes, graphs, and removing file versions that no scope holds. */
export class Maintenance {
  /** The state of each project at its last cleaning. */
  readonly #seen = new Map<string, SeenCopy>();

  /**
   * @param sql the engine's database
   * @param patient the same, for statements that take hours
   */
  constructor(
    private readonly projects: ReplicatedProjects,
    private readonly sql: Sql,
    private readonly patient: Sql,
    private readonly log: Log,
  ) {}

  /** Gives codes and a graph to the tables that have become large enough, and lets new copies be searched. */
  async build(): Promise<void> {
    const { renewals } = this.projects;
    await renewals.adapt();
    await this.#buildTables();
    await renewals.finish();
  }

  async #buildTables(): Promise<void> {
    const tables = await this.sql<TableRow[]>`
      SELECT c.project_id, c.state AS role, t.dimension, t.rows, t.graph
      FROM ${this.sql(SCHEMA)}.tables t JOIN ${this.sql(SCHEMA)}.copies c ON c.id = t.copy_id
      WHERE c.state <> 'retired' AND ((NOT coded AND rows >= ${VECTOR_CODED_MIN_ROWS})
        OR (rows >= ${VECTOR_GRAPH_MIN_ROWS}
          AND (NOT graph OR rows > ${VECTOR_RECALIBRATED_GROWTH} * coalesce(calibrated_rows, 0))))
      ORDER BY rows`;
    for (const { project_id, role, dimension, rows, graph } of tables) {
      const project = this.projects.stored(project_id, role);
      // A table that still grows fast is built when it rests: that is much faster.
      if (project === undefined || project.indexer.isBusy) continue;
      const store = await project.maintain(async (opened) => {
        await giveCodes(this.sql, opened);
        return opened;
      });
      if (store === undefined || Number(rows) < VECTOR_GRAPH_MIN_ROWS) continue;
      if (!graph) await this.#graph(store, dimension);
      await calibrate(this.sql, store, dimension);
    }
  }

  /** Builds the graph while searches and writes continue. The index of an interrupted attempt is removed. */
  async #graph(store: ProjectStore, dimension: number): Promise<void> {
    const { patient } = this;
    const [table, graph] = [store.tables.chunks(dimension), store.tables.graph(dimension)];
    const startedAt = performance.now();
    await patient.unsafe(`DROP INDEX IF EXISTS ${SCHEMA}.${graph}`);
    // PostgreSQL chooses workers by the size of the table, which excludes the vectors in TOAST. That gives too few.
    await patient.unsafe(`ALTER TABLE ${table} SET (parallel_workers = ${VECTOR_GRAPH_WORKERS})`);
    await patient.unsafe(
      `CREATE INDEX CONCURRENTLY ${graph} ON ${table} USING hnsw (code bit_hamming_ops)
        WITH (ef_construction = ${VECTOR_GRAPH_EF_CONSTRUCTION})`,
    );
    // The setting would also divide searches among workers.
    await patient.unsafe(`ALTER TABLE ${table} RESET (parallel_workers)`);
    // Without statistics the planner assumes that the tables are small, and reads all rows instead.
    for (const each of [table, store.tables.scopes]) await patient.unsafe(`ANALYZE ${each}`);
    await store.write(async (tx) => {
      await tx`
        UPDATE ${tx(SCHEMA)}.tables SET graph = true
        WHERE copy_id = ${store.copyId} AND dimension = ${dimension}`;
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    this.log.info({ copy: store.copyId, dimension, seconds }, "built a graph");
  }

  /**
   * Deletes ranges that no search can still read, and chunks that no scope holds. The sequence numbers that the last
   * cleaning saw have been applied for longer than any search runs.
   */
  async clean(): Promise<void> {
    await dropRetired(this.sql, this.projects.epoch);
    const projects = [...this.projects.changed, ...this.#seen.keys()];
    this.projects.changed.clear();
    for (const id of new Set(projects)) {
      const cleaned = await this.projects.stored(id)?.maintain(async (store) => {
        await this.#cleanProject(id, store);
        return true;
      });
      if (cleaned !== true) this.#seen.delete(id);
    }
  }

  async #cleanProject(id: string, store: ProjectStore): Promise<void> {
    const { sql } = this;
    const { copyId } = store;
    const rows = await sql<{ id: string; applied: string }[]>`
      SELECT id, applied FROM ${sql(SCHEMA)}.scopes WHERE copy_id = ${copyId}`;
    const now = new Map(rows.map((scope) => [scope.id, scope.applied]));
    const before = this.#seen.get(id);
    this.#seen.set(id, { copyId, applied: now });
    if (before?.copyId !== copyId) return;
    for (const [scope, applied] of before.applied) await this.#cleanScope(store, scope, applied);
    const isClean = await this.#removeUnscoped(store);
    const isSame = [...now].every(([scope, applied]) => before.applied.get(scope) === applied);
    if (isSame && isClean) this.#seen.delete(id);
  }

  async #cleanScope(store: ProjectStore, scopeId: string, applied: string): Promise<void> {
    await store.write(async (tx) => {
      for (const placement of store.placements) {
        await tx`
          DELETE FROM ${tx(store.tables.scopes)} WHERE placement = ${placement}
            AND scope_id = ${scopeId} AND to_seq <= ${applied} AND to_seq < ${OPEN_END}`;
      }
    });
  }

  /**
   * Removes versions that no scope holds. Recently stored ones stay, because an import announces versions before a
   * scope holds them. Returns true when nothing had to stay.
   */
  async #removeUnscoped(store: ProjectStore): Promise<boolean> {
    const { tables } = store;
    let isClean = true;
    for (const placement of store.placements) {
      const rows = await this.sql<{ id: string; old: boolean }[]>`
        SELECT id, added_at < now() - make_interval(secs => ${INDEX_UNSCOPED_KEEP_MS / 1_000}) AS old
        FROM ${this.sql(tables.versions)} v WHERE placement = ${placement}
          AND NOT EXISTS (SELECT 1 FROM ${this.sql(tables.scopes)} s
            WHERE s.placement = ${placement} AND s.file_version_id = v.id)`;
      const ids = rows.filter(({ old }) => old).map(({ id }) => id);
      if (ids.length > 0) await store.removeVersions(ids);
      isClean &&= ids.length === rows.length;
    }
    return isClean;
  }
}
