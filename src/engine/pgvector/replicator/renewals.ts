import pLimit from "p-limit";
import pTimeout from "p-timeout";
import {
  INDEX_RETRY_BASE_MS,
  INDEX_RETRY_MAX_MS,
  VECTOR_CODED_MIN_ROWS,
  VECTOR_GRAPH_MIN_ROWS,
} from "../../../domain/limits.ts";
import { retryUntilSuccess } from "../../../ops/retry.ts";
import { SCHEMA } from "../tables.ts";
import { beginCopy, type Layout, switchCopies } from "./projects-store.ts";
import type { ReplicatedProject, ReplicationContext } from "./replicated-project.ts";
import { whileLeading } from "./store.ts";

/** Maximum wait of a project's changes while searches switch to its new copy. */
const VECTOR_SWITCH_WAIT_MS = 1_000;
const BACKOFF = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_MAX_MS };

interface RenewalContext extends Pick<ReplicationContext, "sql" | "changes" | "log" | "lost"> {
  readonly layout: Layout;
  /** Opens the copy of a project that is filling. */
  fill(projectId: string): ReplicatedProject;
  serving(projectId: string): ReplicatedProject;
  isDropping(projectId: string): boolean;
  /** Called after searches have begun to read this copy. */
  replaced(project: ReplicatedProject): void;
}

/**
 * Builds further copies of projects, with another number of placements or because a rebuild was requested. Searches
 * read the old copy, which follows all changes as the new one does, until the new one is complete.
 */
export class Renewals {
  readonly #filling = new Map<string, ReplicatedProject>();
  /** The sequence number of each project's rebuild request that has not been fulfilled. */
  readonly #rebuilds = new Map<string, number>();
  readonly #steps = pLimit(1);
  #stopped = false;

  constructor(private readonly context: RenewalContext) {}

  /** The copy of a project that is filling. */
  filling(projectId: string): ReplicatedProject | undefined {
    return this.#filling.get(projectId);
  }

  /** The sequence number of a project's rebuild request until searches read its result. */
  rebuildSeq(projectId: string): number | undefined {
    return this.#rebuilds.get(projectId);
  }

  /** False while the database lacks requests that were read: a next leader would miss them. */
  get isStored(): boolean {
    return this.#steps.activeCount + this.#steps.pendingCount === 0;
  }

  /** Builds a copy from the platform's database. A project without a copy is filled in place. */
  rebuild(projectId: string, seq: number): void {
    this.#rebuilds.set(projectId, seq);
    void this.#begin(projectId, seq);
  }

  /** Continues to fill the copies that the last leader has begun. */
  async resume(seq: number): Promise<void> {
    const { sql } = this.context;
    const rows = await sql<{ project_id: string; rebuild_seq: string }[]>`
      SELECT project_id, rebuild_seq FROM ${sql(SCHEMA)}.copies WHERE state = 'filling'`;
    for (const { project_id, rebuild_seq } of rows) {
      const request = Number(rebuild_seq);
      if (request > 0) this.#rebuilds.set(project_id, request);
      await this.#fill(project_id, seq);
    }
  }

  /** Begins copies of projects for which an operator wants another number of placements. */
  async adapt(): Promise<void> {
    const { sql, layout } = this.context;
    if (!layout.distributed) return;
    const rows = await sql<{ project_id: string }[]>`
      SELECT w.project_id FROM ${sql(SCHEMA)}.wanted_placements w
        JOIN ${sql(SCHEMA)}.copies s ON s.project_id = w.project_id AND s.state = 'serving'
        LEFT JOIN ${sql(SCHEMA)}.copies f ON f.project_id = w.project_id AND f.state = 'filling'
      WHERE cardinality(coalesce(f.placements, s.placements)) <> w.placements`;
    for (const { project_id } of rows) {
      await this.#begin(project_id, this.#rebuilds.get(project_id) ?? 0);
    }
  }

  /** Lets searches read the copies that are complete. */
  async finish(): Promise<void> {
    for (const [projectId, project] of this.#filling) {
      if (project.indexer.isBusy || !(await this.#isComplete(projectId))) continue;
      // The serving copy is not written meanwhile: a search must not see a change, and a later one an older copy.
      await this.context.serving(projectId).maintain(() => this.#switch(projectId, project));
    }
  }

  /** Stops filling a copy of the project. */
  async close(projectId: string): Promise<void> {
    await this.#steps(() => this.#close(projectId));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#filling.values()].map((project) => project.close()));
  }

  async #close(projectId: string): Promise<void> {
    const project = this.#filling.get(projectId);
    this.#filling.delete(projectId);
    await project?.close();
  }

  #begin(projectId: string, rebuildSeq: number): Promise<void> {
    const { log } = this.context;
    const begin = async () => {
      if (this.#stopped || this.context.isDropping(projectId)) return;
      if (!(await whileLeading(() => this.#beginOnce(projectId, rebuildSeq)))) this.context.lost();
    };
    const report = (err: unknown) =>
      log.warn({ err, project: projectId }, "cannot begin a copy of a project; retrying");
    return this.#steps(() => retryUntilSuccess(begin, BACKOFF, report));
  }

  async #beginOnce(projectId: string, rebuildSeq: number): Promise<void> {
    const { sql, layout, changes } = this.context;
    await this.#close(projectId);
    const isBegun = await beginCopy(sql, projectId, layout, rebuildSeq);
    if (isBegun === true) return await this.#fill(projectId, rebuildSeq);
    this.#rebuilds.delete(projectId);
    if (isBegun === false) return;
    const { indexer } = this.context.serving(projectId);
    for (const scope of (await changes.scopesOf(projectId)) ?? []) indexer.mark(scope, rebuildSeq);
  }

  /** Opens a copy, and marks every scope. From here on it receives all changes. */
  async #fill(projectId: string, seq: number): Promise<void> {
    const project = this.context.fill(projectId);
    this.#filling.set(projectId, project);
    const scopes = await this.context.changes.scopesOf(projectId);
    for (const scope of scopes ?? []) project.indexer.mark(scope, seq);
  }

  /** True when every table of the copy has its codes, graph and candidates. */
  async #isComplete(projectId: string): Promise<boolean> {
    const { sql } = this.context;
    const missing = await sql`
      SELECT 1 FROM ${sql(SCHEMA)}.tables t JOIN ${sql(SCHEMA)}.copies c ON c.id = t.copy_id
      WHERE c.project_id = ${projectId} AND c.state = 'filling'
        AND ((t.rows >= ${VECTOR_CODED_MIN_ROWS} AND NOT t.coded)
          OR (t.rows >= ${VECTOR_GRAPH_MIN_ROWS} AND (NOT t.graph OR t.candidates IS NULL)))
      LIMIT 1`;
    return missing.length === 0;
  }

  async #switch(projectId: string, project: ReplicatedProject): Promise<void> {
    const { sql, layout, log } = this.context;
    // Changes that arrived meanwhile are applied to the new copy first. If they take longer, a later call switches.
    const limit = { milliseconds: VECTOR_SWITCH_WAIT_MS, message: false } as const;
    await pTimeout(project.indexer.idle(), limit);
    await project.maintain(async ({ placements }) => {
      const isCurrent = this.#filling.get(projectId) === project;
      if (!isCurrent || project.indexer.oldestPending !== undefined) return;
      await switchCopies(sql, projectId, layout.epoch);
      this.#filling.delete(projectId);
      this.#rebuilds.delete(projectId);
      project.role = "serving";
      this.context.replaced(project);
      log.info({ project: projectId, placements: placements.length }, "searches read a new copy");
    });
  }
}
