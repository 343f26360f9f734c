import { actAs } from "../../auth/audit/actor.ts";
import type { Sql } from "../../db/client.ts";
import { isConflict, isRetryable } from "../../db/errors.ts";
import { explainFrozen, RecordError, rejectionReason } from "../../documents/errors.ts";
import { fingerprintsOf, projectEmbedders } from "../../embed/embedders/project-embedders.ts";
import { Backpressure } from "./backpressure.ts";
import { HeldProjects } from "./held-projects.ts";
import type { ImportOptions } from "./import-options.ts";
import { type ImportSummary, noteImport } from "./import-summary.ts";
import { announceProject } from "./put/announce.ts";
import { Batch } from "./put/batch.ts";
import {
  type ActiveRelease,
  addRelease,
  applyActiveRelease,
  applyEnvironments,
  applyReleases,
  countScopeChanges,
  createStagingTables,
  dropStagingTables,
  groupScopes,
  type ReleaseSources,
  raiseMessageCounts,
} from "./put/scopes.ts";
import { writeBatch } from "./put/write-batch.ts";
import type { InputRecord } from "./records/batches.ts";
import { isOfScope, namesNoScope, type ParsedRecord } from "./records/parsed-record.ts";
import { ImportSession } from "./session.ts";

/** Rolls back a strict import that has rejected a record. */
class StrictRollback extends Error {}

const BUILT_IN = fingerprintsOf(projectEmbedders([], () => {}));
const NOTHING_IMPORTED = { imported: new Map(), changed: 0, changedRecords: 0 } as const;
/** Maximum new file versions that are indexed within the time in which changes become visible. */
const PROMPT_VERSIONS = 5_000;

/** Writes batches of records in order. Throws an ImportError, and problems of the only project. */
export async function importRecords(
  pool: Sql,
  batches: AsyncIterable<InputRecord[]>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const session = await ImportSession.open(pool, options.bounds);
  try {
    await actAs(session.sql, options.actor, true);
    await createStagingTables(session.sql);
    const run = new Import(session, options);
    const summary =
      options.strict || options.atOnce
        ? await importAtOnce(run, session, batches, options)
        : await run.import(batches);
    if (options.isCommand !== true) await noteImport(session.sql, run.written, options, summary);
    return summary;
  } finally {
    await dropStagingTables(session.sql).catch(() => {});
    await session.close();
  }
}

/**
 * Imports all records in one transaction, or none if that fails or is strict and rejects one. Other transactions see
 * none of its rows before its commit, so the indexes begin only then. A large upload is over once searches see it;
 * commands wait for that themselves.
 */
async function importAtOnce(
  run: Import,
  session: ImportSession,
  batches: AsyncIterable<InputRecord[]>,
  { target, strict }: ImportOptions,
): Promise<ImportSummary> {
  if (target !== undefined) await announceProject(session.sql, target.id);
  try {
    const summary = await session.transaction(async () => {
      const imported = await run.import(batches);
      if (strict && imported.rejected > 0) throw new StrictRollback();
      return imported;
    });
    if (target !== undefined) await run.untilVisible();
    return summary;
  } catch (error) {
    if (!(error instanceof StrictRollback)) throw error;
    return { ...run.summary, ...NOTHING_IMPORTED };
  }
}

/** Maximum attempts to write a record, because other clients may store the same rows at the same time. */
const RECORD_ATTEMPTS = 4;

/** `counted` is true if the record is counted as changed already. */
type PendingActivation = ActiveRelease & { readonly counted: boolean };

class Import {
  rejected = 0;
  records = 0;
  /** Ids of the projects that the import has written to. */
  readonly written = new Set<string>();
  #changed = 0;
  #changedRecords = 0;
  readonly #imported = new Map<string, number>();
  /** References to the projects whose files are imported. */
  readonly #projects = new Set<string>();
  readonly #held: HeldProjects;
  readonly #releases: ReleaseSources = new Map();
  readonly #activeReleases: PendingActivation[] = [];
  readonly #backpressure: Backpressure;
  #newVersions = 0;

  constructor(
    private readonly session: ImportSession,
    private readonly options: ImportOptions,
  ) {
    if (options.target !== undefined) this.written.add(options.target.id);
    this.#held = new HeldProjects(session, options.target, options.actor, this.written);
    this.#backpressure = new Backpressure(session.sql, options.indexWaitMaxMs);
  }

  async import(batches: AsyncIterable<InputRecord[]>): Promise<ImportSummary> {
    // The next batch is read and validated while PostgreSQL writes this one.
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const batch of batches) {
        await writing;
        await this.#keepPace(batch);
        writing = this.#importBatch(batch);
        // The next await reports a rejection; until then it must not count as unhandled.
        writing.catch(() => {});
      }
    } catch (error) {
      // The statements of a batch that is being written must not follow the end of its transaction.
      await writing.catch(() => {});
      throw error;
    }
    await writing;
    await this.#finish();
    return this.summary;
  }

  get summary(): ImportSummary {
    return {
      imported: this.#imported,
      projects: this.#projects,
      rejected: this.rejected,
      changed: this.#changed,
      records: this.records,
      changedRecords: this.#changedRecords,
    };
  }

  /** Waits until searches see a large import. A small one is visible soon. */
  async untilVisible(): Promise<void> {
    if (this.#newVersions < PROMPT_VERSIONS) return;
    await this.#backpressure.untilVisible(this.#projects);
  }

  /** Pauses while the indexes lag behind in the projects of this import. */
  async #keepPace(batch: readonly InputRecord[], onWait?: () => void): Promise<void> {
    for (const { parsed } of batch) {
      if (parsed instanceof RecordError || !isOfScope(parsed)) continue;
      this.#projects.add(parsed.record.project);
    }
    // The rows of an import in one transaction are not indexed while it runs.
    if (this.options.strict || this.options.atOnce || this.#projects.size === 0) return;
    await this.#backpressure.pause(this.#projects, onWait);
  }

  async #importBatch(records: InputRecord[]): Promise<void> {
    const first = this.records;
    this.records += records.length;
    await this.#write(records, first);
  }

  /**
   * Writes records, the first of which has this number within the import, in a transaction or a savepoint. Those that
   * PostgreSQL refuses together are halved until the one at fault is alone. That is written again if others have
   * stored the same rows at the same time.
   */
  async #write(records: InputRecord[], firstRecord: number, attempt = 1): Promise<void> {
    const { session, options } = this;
    const { target, embedders = BUILT_IN } = options;
    const hold = (projects: ReadonlySet<string>) => this.#held.hold(projects);
    try {
      const batch = await session.transaction(async () => {
        const { sql, charges } = session;
        const context = { sql, charges, target, embedders, firstRecord, hold };
        await this.#held.begin(records);
        return await writeBatch(new Batch(context, records));
      });
      this.#accept(batch);
    } catch (error) {
      const isTransient = isConflict(error) || isRetryable(error);
      const reason = rejectionReason(error);
      if (reason === undefined && !isTransient) throw error;
      if (records.length > 1) {
        const half = records.length >> 1;
        await session.transaction(async () => {
          await this.#write(records.slice(0, half), firstRecord);
          await this.#write(records.slice(half), firstRecord + half);
        });
      } else if (isTransient && attempt < RECORD_ATTEMPTS) {
        await this.#write(records, firstRecord, attempt + 1);
      } else if (reason === undefined) throw error;
      else this.#reject((records[0] as InputRecord).where, reason);
    }
  }

  #accept(batch: Batch): void {
    for (const id of batch.written) this.written.add(id);
    for (const [id, from] of batch.releases) addRelease(this.#releases, id, from);
    this.#newVersions += batch.newVersions;
    for (const active of batch.activeReleases) {
      this.#activeReleases.push({ ...active, counted: batch.changed.has(active.record) });
    }
    this.#changed += batch.changedRows;
    this.#changedRecords += batch.changed.size;
    const imported = new Map<string, number>();
    for (const input of batch.records) {
      const reason = batch.rejected.get(input);
      if (reason !== undefined) this.#reject(input.where, reason);
      else if (!(input.parsed instanceof RecordError)) {
        addTo(imported, input.parsed.kind, 1);
        this.#warn(input.where, input.parsed);
      }
    }
    for (const [kind, count] of imported) addTo(this.#imported, kind, count);
    this.options.onBatch?.(imported);
  }

  #warn(where: string, parsed: ParsedRecord): void {
    if (namesNoScope(parsed)) this.options.onUnscoped?.(where);
    const warning = parsed.kind === "file" ? parsed.record.warning : undefined;
    if (warning) this.options.onWarning?.(where, warning);
  }

  #reject(where: string, reason: string): void {
    this.rejected++;
    this.options.onRejected(where, reason);
  }

  /** Applies the staged changes, one transaction per scope. */
  async #finish(): Promise<void> {
    const { sql } = this.session;
    const { finalStep, onFinishing } = this.options;
    const step = async (doing: string, work: () => Promise<number>) => {
      await this.#keepPace([], () =>
        onFinishing?.("waiting until the services have indexed files"),
      );
      onFinishing?.(doing);
      this.#changed += await this.#held.lastStep(work);
    };
    await this.session.commitDurably();
    let filled = 0;
    for (const ids of await groupScopes(sql, this.#releases.keys())) {
      filled += ids.length;
      const doing = `filling releases, ${filled} of ${this.#releases.size}`;
      await step(doing, () =>
        applyReleases(this.session, ids, this.#releases).catch(explainFrozen),
      );
    }
    const environments = await groupScopes(sql);
    const total = environments.flat().length;
    let changed = 0;
    for (const ids of environments) {
      changed += ids.length;
      await step(`changing environments, ${changed} of ${total}`, () =>
        applyEnvironments(this.session, ids),
      );
    }
    // If several records set the active release of an environment, the last one wins.
    const last = new Map(this.#activeReleases.map((active) => [active.environmentId, active]));
    for (const active of this.#activeReleases) {
      if (last.get(active.environmentId) === active) await this.#activate(active);
    }
    this.#changedRecords += await countScopeChanges(sql);
    await step("counting messages", () => raiseMessageCounts(sql));
    if (finalStep !== undefined) await step("removing files", () => finalStep(this.session));
  }

  async #activate({ counted, ...active }: PendingActivation): Promise<void> {
    const changed = await this.#held.lastStep(() => applyActiveRelease(this.session.sql, active));
    if (changed === undefined) {
      const reason = "active_release: the project has no release with this name after the import";
      this.#reject(active.where, reason);
      if (counted) this.#changedRecords--;
    } else {
      this.#changed += changed;
      if (changed > 0 && !counted) this.#changedRecords++;
    }
  }
}

function addTo(counts: Map<string, number>, kind: string, count: number): void {
  counts.set(kind, (counts.get(kind) ?? 0) + count);
}
