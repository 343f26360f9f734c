import { rmSync } from "node:fs";
import type { SnapshotCopies } from "../../config/snapshots.ts";
import type { Log } from "../../observability/log.ts";
import { LogLimiter } from "../../observability/log-limiter.ts";
import { timed } from "../../observability/long-tasks.ts";
import { isUuid } from "../../shared/formats.ts";
import type { ChangeLog } from "../changes/change-log.ts";
import type { SnapshotStore } from "../snapshots/snapshot-store.ts";
import { codeOf } from "./copy-failure.ts";
import type { CopyResult } from "./copy-task.ts";
import { CopyThread } from "./copy-threads.ts";
import { type CopyTotals, CopyTotalsCount } from "./copy-totals.ts";
import { fetchLimitMs, MANIFEST_TIMEOUT_MS, PIECE_TIMEOUT_MS } from "./project-copy.ts";
import { PUBLISH_MAX_MS } from "./publish-copy.ts";
import { UploadQueue } from "./upload-queue.ts";

/** How far uploads step back behind everything else. */
const UPLOAD_NICENESS = 10;
/** While the shared place does not answer, projects are loaded without asking it for this long. */
const AWAY_MS = 30_000;
/** A thread may be busy with another piece when a task comes. */
const TASK_MARGIN_MS = 1_000;
const REMOVE_MAX_MS = 300_000;

interface CopiesContext {
  readonly snapshots: SnapshotStore;
  readonly changes: Pick<ChangeLog, "checkAnchor" | "projectsAmong">;
  readonly databaseId: string;
  readonly log: Log;
}

/**
 * Copies of snapshots in a place that all nodes share. A node uploads what it has saved, and begins with what
 * any node has uploaded last where its own snapshot is missing or older. PostgreSQL is right in any case:
 * whatever fails here costs time only, and is logged and counted.
 */
export class Copies {
  readonly #uploads: CopyThread;
  readonly #downloads: CopyThread;
  readonly #queue: UploadQueue;
  readonly #totals = new CopyTotalsCount();
  readonly #failures = new LogLimiter();
  #awayUntil = 0;

  constructor(
    place: SnapshotCopies,
    private readonly context: CopiesContext,
  ) {
    this.#uploads = new CopyThread(place, UPLOAD_NICENESS);
    this.#downloads = new CopyThread(place, 0);
    this.#queue = new UploadQueue((projectId, saved) =>
      this.#upload(projectId, saved).catch((error: unknown) => {
        const failure = { kind: "unavailable", reason: codeOf(error) } as const;
        return this.#uploaded(projectId, { failure, bytes: 0, seconds: 0 });
      }),
    );
  }

  /** What was transferred since the thread began. */
  get totals(): CopyTotals {
    return this.#totals.totals;
  }

  /** The snapshot of a project was written: it is to be uploaded. */
  saved(projectId: string): void {
    this.#queue.add(projectId, true);
  }

  /** The snapshot of a project was read: it is to be uploaded if the copy is older. */
  restored(projectId: string): void {
    this.#queue.add(projectId, false);
  }

  /** Begins the uploads that are due. */
  uploadDue(): void {
    this.#queue.begin(performance.now());
  }

  /** Uploads what waits, as far as the time allows. */
  async finish(deadline: number): Promise<void> {
    await this.#queue.finish(deadline);
  }

  /** Deletes the copy of a project that does not exist any more. */
  remove(projectId: string): void {
    const { databaseId } = this.context;
    void this.#queue.remove(projectId).then(async () => {
      const result = await this.#uploads.run(
        { type: "remove", databaseId, projectId },
        REMOVE_MAX_MS,
      );
      this.#note("a copy of a deleted project cannot be deleted", projectId, result);
    });
  }

  /** Deletes the copies of all projects that do not exist any more: nodes may have been away meanwhile. */
  async sweep(): Promise<void> {
    const { databaseId, changes } = this.context;
    const result = await this.#uploads.run({ type: "projects", databaseId }, REMOVE_MAX_MS);
    this.#note("the copies of snapshots cannot be listed", "", result);
    const copied = (result.projects ?? []).filter(isUuid);
    const existing = new Set(await changes.projectsAmong(copied));
    for (const id of copied) if (!existing.has(id)) this.remove(id);
  }

  /**
   * Replaces the local snapshot of a project by its copy, if that is newer than the place `seq` in the change
   * log. False when the snapshot is as before, for whatever reason.
   */
  async fetchNewer(projectId: string, seq: number): Promise<boolean> {
    if (performance.now() < this.#awayUntil) return false;
    const { databaseId, changes } = this.context;
    const described = await this.#downloads.run(
      { type: "describe", databaseId, projectId },
      MANIFEST_TIMEOUT_MS + TASK_MARGIN_MS,
    );
    if (this.#failed(projectId, described)) return false;
    const { copy } = described;
    if (copy === undefined || copy.seq <= seq) return false;
    if ((await changes.checkAnchor(copy.anchor)) === "mismatch") return false;
    return await this.#takeCopy(projectId, copy.bytes);
  }

  /** False where the copy cannot be fetched, or the folder of the snapshots cannot be changed. */
  async #takeCopy(projectId: string, bytes: number): Promise<boolean> {
    const { databaseId, snapshots } = this.context;
    try {
      const directory = snapshots.transferDirectory();
      const fetched = await this.#downloads.run(
        { type: "fetch", databaseId, projectId, directory },
        fetchLimitMs(bytes) + PIECE_TIMEOUT_MS + TASK_MARGIN_MS,
      );
      if (this.#failed(projectId, fetched) || fetched.found !== true) return false;
      timed("replace a snapshot", () => snapshots.replace(projectId, directory));
      this.#totals.count("download", "done", fetched);
      return true;
    } catch (error) {
      const failure = {
        kind: "unavailable",
        reason: `this node fails with ${codeOf(error)}`,
      } as const;
      return !this.#failed(projectId, { failure, bytes: 0, seconds: 0 });
    }
  }

  /** A copy was fetched whose contents cannot be used. */
  unusable(projectId: string): void {
    this.#totals.count("download", "damaged", { bytes: 0, seconds: 0 });
    this.context.log.warn({ project: projectId }, "the copy of a snapshot cannot be used");
  }

  /** Counts and logs a failed download. */
  #failed(projectId: string, result: CopyResult): boolean {
    const { failure } = result;
    if (failure === undefined) return false;
    if (failure.kind === "unavailable") this.#awayUntil = performance.now() + AWAY_MS;
    this.#totals.count("download", failure.kind, result);
    const message = "the copy of a snapshot cannot be fetched; reading the database instead";
    this.#note(message, projectId, result);
    return true;
  }

  #note(message: string, project: string, { failure }: CopyResult): void {
    if (failure === undefined) return;
    const { reason } = failure;
    this.#failures.limited(`${message} ${reason}`, () => {
      this.context.log.warn({ project, reason }, message);
    });
  }

  /** True when the upload has ended well or is not needed. */
  async #upload(projectId: string, saved: boolean): Promise<boolean> {
    const { databaseId, snapshots } = this.context;
    const own = snapshots.read(projectId);
    if (own === null) return true;
    const described = await this.#uploads.run(
      { type: "describe", databaseId, projectId },
      MANIFEST_TIMEOUT_MS + TASK_MARGIN_MS,
    );
    if (await this.#isCurrent(described, own.seq, saved)) return true;
    if (described.failure?.kind === "unavailable") {
      return this.#uploaded(projectId, described);
    }
    const directory = snapshots.transferDirectory();
    try {
      const position = await snapshots.exclusively(() => {
        timed("link a snapshot", () => snapshots.linkTo(projectId, directory));
        return snapshots.read(projectId);
      });
      if (position === null) return true;
      const { anchor, seq } = position;
      const result = await this.#uploads.run(
        { type: "publish", databaseId, projectId, directory, position: { anchor, seq } },
        PUBLISH_MAX_MS + PIECE_TIMEOUT_MS,
      );
      return this.#uploaded(projectId, result);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** Whether the copy has all that the own snapshot has, which is at `seq`. */
  async #isCurrent({ copy }: CopyResult, seq: number, saved: boolean): Promise<boolean> {
    if (copy === undefined || copy.seq < seq || (saved && copy.seq === seq)) return false;
    // After a restore of the database the positions of the copy mean something else.
    return (await this.context.changes.checkAnchor(copy.anchor)) !== "mismatch";
  }

  #uploaded(projectId: string, result: CopyResult): boolean {
    this.#totals.count("upload", result.failure?.kind ?? "done", result);
    this.#note("a snapshot cannot be uploaded; trying again later", projectId, result);
    return result.failure === undefined;
  }
}
