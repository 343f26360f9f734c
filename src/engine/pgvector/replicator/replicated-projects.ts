import pLimit from "p-limit";
import type { Sql } from "../../../db/client.ts";
import { INDEX_RETRY_BASE_MS, INDEX_RETRY_MAX_MS } from "../../../domain/limits.ts";
import type { Position } from "../../../domain/position.ts";
import type { ScopeRef } from "../../../domain/scope.ts";
import type { Change } from "../../../index/changes/change-log.ts";
import { Follower } from "../../../index/changes/follower.ts";
import { retryUntilSuccess } from "../../../ops/retry.ts";
import { SCHEMA } from "../tables.ts";
import { type CopyRole, dropProject, type Layout, openProject } from "./projects-store.ts";
import { Renewals } from "./renewals.ts";
import { ReplicatedProject, type ReplicationContext } from "./replicated-project.ts";
import { fence, whileLeading } from "./store.ts";

/** The interval at which the leader saves its position in the change log. */
const VECTOR_REPLICATOR_SAVE_MS = 50;
/** Maximum number of projects that the leader writes concurrently. */
const VECTOR_REPLICATOR_PROJECTS = 4;

const BACKOFF = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_MAX_MS };

/** The databases: `source` is the platform's database, `sql` the engine's. */
interface Sources extends Pick<ReplicationContext, "sql" | "changes" | "reader" | "log"> {
  readonly source: Sql;
}

interface SavedState {
  readonly anchor: Position;
  readonly complete: boolean;
}

async function readSaved(sql: Sql): Promise<SavedState> {
  const [row] = await sql<
    { anchor_seq: string; anchor_at: string; complete: boolean }[]
  >`SELECT anchor_seq, anchor_at, complete FROM ${sql(SCHEMA)}.state`;
  if (row === undefined) throw new Error("the state of the vector database is missing");
  const { complete, anchor_seq, anchor_at } = row;
  return { complete, anchor: { seq: Number(anchor_seq), at: anchor_at } };
}

/** The leader's work: follows the change log and keeps the engine's database like the platform's. */
export class ReplicatedProjects {
  readonly #projects = new Map<string, ReplicatedProject>();
  /** Projects that are being dropped. Their later changes wait. */
  readonly #dropping = new Map<string, Promise<void>>();
  readonly #context: ReplicationContext;
  readonly renewals: Renewals;
  /** Projects whose rows have changed since the last look. */
  readonly changed = new Set<string>();
  /** Changes that were handed to projects and are not saved as applied, in order. */
  readonly #trail: Position[] = [];
  #follower: Follower | undefined;
  #saved: Position = { seq: 0, at: "" };
  #isComplete = false;
  #stopped = false;

  constructor(
    private readonly from: Sources,
    private readonly layout: Layout,
    private readonly lost: () => void,
  ) {
    const { sql, changes, reader, log } = from;
    this.#context = {
      sql,
      changes,
      reader,
      log,
      lost,
      projects: pLimit(VECTOR_REPLICATOR_PROJECTS),
      openProject: (id, role) => openProject(sql, id, layout, role),
      changed: (id) => void this.changed.add(id),
    };
    this.renewals = new Renewals({
      sql,
      changes,
      log,
      layout,
      lost,
      fill: (id) => new ReplicatedProject(id, this.#context, "filling"),
      serving: (id) => this.project(id),
      isDropping: (id) => this.#dropping.has(id),
      replaced: (project) => this.#replace(project),
    });
  }

  /** Continues where the last leader has stopped, or reads every project once. */
  async start(): Promise<void> {
    const { source, sql, changes, log } = this.from;
    const saved = await readSaved(sql);
    const newest = await changes.newest();
    // The last leader may have left rows to remove in any project.
    for (const id of await this.#storedProjects()) this.changed.add(id);
    const isUsable = saved.complete && (await changes.checkAnchor(saved.anchor)) === "valid";
    const anchor = isUsable ? saved.anchor : newest;
    this.#saved = anchor;
    this.#isComplete = isUsable;
    if (!isUsable) await this.#readAll(anchor.seq);
    await this.renewals.resume(anchor.seq);
    const events = {
      apply: (change: Change) => this.#apply(change),
      missed: () => this.#readAgain(),
    };
    this.#follower = await Follower.start(source, log, changes, events, anchor);
    void this.#saveRegularly();
  }

  /** The platform's database has lost changes that were applied. */
  async #readAgain(): Promise<void> {
    const newest = await this.from.changes.newest();
    this.#trail.length = 0;
    this.#saved = newest;
    this.#isComplete = false;
    await this.#readAll(newest.seq);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#follower?.stop();
    await this.renewals.stop();
    await Promise.all([...this.#projects.values()].map((project) => project.close()));
    await Promise.all(this.#dropping.values());
  }

  /** The number of this leader's term. */
  get epoch(): number {
    return this.layout.epoch;
  }

  all(): ReplicatedProject[] {
    return [...this.#projects.values()];
  }

  project(id: string): ReplicatedProject {
    const project = this.#projects.get(id) ?? new ReplicatedProject(id, this.#context, "serving");
    this.#projects.set(id, project);
    return project;
  }

  /** A copy of a project whose tables may be worked on; undefined while they are being dropped. */
  stored(id: string, role: CopyRole = "serving"): ReplicatedProject | undefined {
    if (this.#dropping.has(id)) return undefined;
    return role === "filling" ? this.renewals.filling(id) : this.project(id);
  }

  /** All copies of a project: changes are applied to each of them. */
  #copies(id: string): ReplicatedProject[] {
    const filling = this.renewals.filling(id);
    return filling === undefined ? [this.project(id)] : [this.project(id), filling];
  }

  /** A copy that was filled takes the place of the one that searches have read. */
  #replace(project: ReplicatedProject): void {
    // Changes that wait for the old copy are also marked in the new one.
    void this.#projects.get(project.id)?.close();
    this.#projects.set(project.id, project);
    this.changed.add(project.id);
  }

  /** All changes up to this one are searchable. */
  get seq(): number {
    const { reached } = this;
    return Math.min(reached, ...this.all().map(({ indexer }) => indexer.applied(reached)));
  }

  /** The last change that was handed to the projects. */
  get reached(): number {
    return this.#follower?.reached.seq ?? 0;
  }

  /** File versions that an import has stored and no scope may hold yet. */
  announce(projectId: string, versions: readonly string[]): void {
    if (this.#dropping.has(projectId)) return;
    for (const { indexer } of this.#copies(projectId)) indexer.announce(versions);
  }

  async #storedProjects(): Promise<string[]> {
    const { sql } = this.from;
    const rows = await sql<
      { id: string }[]
    >`SELECT DISTINCT project_id AS id FROM ${sql(SCHEMA)}.copies`;
    return rows.map(({ id }) => id);
  }

  /** Marks every scope of every project, and drops projects that the platform's database does not have. */
  async #readAll(seq: number): Promise<void> {
    const { source, sql, changes } = this.from;
    const { epoch } = this.layout;
    await sql`UPDATE ${sql(SCHEMA)}.state SET complete = false WHERE epoch = ${epoch}`;
    const stored = await this.#storedProjects();
    const scopes = await sql<{ id: string; project_id: string }[]>`
      SELECT s.id, c.project_id FROM ${sql(SCHEMA)}.scopes s
        JOIN ${sql(SCHEMA)}.copies c ON c.id = s.copy_id AND c.state = 'serving'`;
    // A change log that lost entries assigns their sequence numbers again.
    await sql`UPDATE ${sql(SCHEMA)}.copies SET rebuild_seq = least(rebuild_seq, ${seq})`;
    const current = await source<{ id: string }[]>`SELECT id FROM projects`;
    const recent = await changes.changedProjects();
    const exists = new Set(current.map(({ id }) => id));
    for (const id of new Set([...recent, ...exists, ...stored])) {
      const own = exists.has(id) ? await changes.scopesOf(id) : null;
      if (own === null) {
        this.#drop(id);
        continue;
      }
      // The kind of a deleted scope is unknown, but either kind is read as missing.
      const gone = scopes.filter((row) => row.project_id === id);
      const left: ScopeRef[] = gone.map((row) => ({ id: row.id, kind: "environment" }));
      const known = new Set(own.map((scope) => scope.id));
      for (const scope of [...own, ...left.filter((scope) => !known.has(scope.id))]) {
        this.project(id).indexer.mark(scope, seq);
      }
    }
  }

  #apply({ kind, projectId, ref, seq, at }: Change): void {
    this.#trail.push({ seq, at });
    if (kind === "project") this.#drop(projectId);
    else {
      this.#afterDrop(projectId, () => {
        if (kind === "rebuild") return this.renewals.rebuild(projectId, seq);
        for (const { indexer } of this.#copies(projectId)) {
          if (kind === "embedded") indexer.readAgain(ref, seq);
          else indexer.mark({ id: ref, kind }, seq);
        }
      });
    }
  }

  #afterDrop(projectId: string, work: () => void): void {
    const dropping = this.#dropping.get(projectId);
    if (dropping === undefined) work();
    else void dropping.then(() => this.#stopped || work());
  }

  /** Drops the project's tables, and then applies changes of the project that arrived meanwhile. */
  #drop(projectId: string): void {
    const { sql, log } = this.from;
    const closing = this.#projects.get(projectId)?.close();
    this.#projects.delete(projectId);
    const before = this.#dropping.get(projectId);
    const drop = async () => {
      if (this.#stopped) return;
      const { epoch } = this.layout;
      if (!(await whileLeading(() => dropProject(sql, projectId, epoch)))) this.lost();
    };
    const report = (err: unknown) =>
      log.warn({ err, project: projectId }, "cannot drop a project's vectors; retrying");
    const dropping = Promise.all([closing, before, this.renewals.close(projectId)])
      .then(() => retryUntilSuccess(drop, BACKOFF, report))
      .finally(() => {
        if (this.#dropping.get(projectId) === dropping) this.#dropping.delete(projectId);
      });
    this.#dropping.set(projectId, dropping);
  }

  async #saveRegularly(): Promise<void> {
    while (!this.#stopped) {
      const isLeading = await whileLeading(() => this.#save()).catch((err: unknown) => {
        this.from.log.debug({ err }, "cannot save the position in the change log; retrying");
      });
      if (isLeading === false) this.lost();
      await Bun.sleep(VECTOR_REPLICATOR_SAVE_MS);
    }
  }

  /** Saves the position up to which changes are applied, for searches and the next leader. */
  async #save(): Promise<void> {
    if (this.#dropping.size > 0 || !this.renewals.isStored) return;
    const { seq } = this;
    // Until the first save, `#saved` is the position at which the projects were read.
    if (this.#isComplete ? seq <= this.#saved.seq : seq < this.#saved.seq) return;
    let anchor = this.#saved;
    const done = this.#trail.findLastIndex((entry) => entry.seq <= seq);
    if (done >= 0) anchor = this.#trail[done] as Position;
    const { sql } = this.from;
    await sql.begin(async (tx) => {
      await fence(tx, this.layout.epoch);
      await tx`
        UPDATE ${tx(SCHEMA)}.state
        SET seq = ${Math.max(seq, anchor.seq)}, anchor_seq = ${anchor.seq}, anchor_at = ${anchor.at},
          complete = true`;
    });
    this.#trail.splice(0, done + 1);
    this.#saved = anchor;
    this.#isComplete = true;
  }
}
