import { INDEX_COPY_INTERVAL_MS } from "../../shared/limits.ts";

const UPLOADS_AT_ONCE = 2;
/** The pause after a failed upload, doubled with every failure of the project. */
const UPLOAD_RETRY_MS = 10_000;
const UPLOAD_RETRY_MAX_MS = 600_000;

interface Waiting {
  /** Whether the snapshot was written since the last upload, and not only read. */
  saved: boolean;
  dueAt: number;
  failures: number;
}

/** Projects whose snapshots wait to be uploaded, each at most once per INDEX_COPY_INTERVAL_MS. */
export class UploadQueue {
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #endedAt = new Map<string, number>();

  /** @param upload never rejects, and resolves with false when it has to be repeated later */
  constructor(private readonly upload: (projectId: string, saved: boolean) => Promise<boolean>) {}

  add(projectId: string, saved: boolean): void {
    const known = this.#waiting.get(projectId);
    if (known !== undefined) {
      known.saved ||= saved;
      return;
    }
    const dueAt =
      (this.#endedAt.get(projectId) ?? -INDEX_COPY_INTERVAL_MS) + INDEX_COPY_INTERVAL_MS;
    this.#waiting.set(projectId, { saved, dueAt, failures: 0 });
  }

  /** Begins those that were due at `now`. */
  begin(now: number): void {
    for (const [projectId, waiting] of this.#waiting) {
      if (this.#running.size >= UPLOADS_AT_ONCE) return;
      if (waiting.dueAt > now || this.#running.has(projectId)) continue;
      this.#waiting.delete(projectId);
      const running = this.#run(projectId, waiting);
      this.#running.set(projectId, running);
    }
  }

  /** Begins all that wait, each once, until the deadline. */
  async finish(deadline: number): Promise<void> {
    const last = performance.now();
    for (const waiting of this.#waiting.values()) waiting.dueAt = last;
    for (;;) {
      this.begin(last);
      const leftMs = deadline - performance.now();
      if (this.#running.size === 0 || leftMs <= 0) return;
      await Promise.race([...this.#running.values(), Bun.sleep(leftMs)]);
    }
  }

  /** Forgets a project; resolves when nothing of it is being uploaded. */
  async remove(projectId: string): Promise<void> {
    this.#waiting.delete(projectId);
    await this.#running.get(projectId);
    this.#waiting.delete(projectId);
    this.#endedAt.delete(projectId);
  }

  async #run(projectId: string, waiting: Waiting): Promise<void> {
    const isDone = await this.upload(projectId, waiting.saved);
    const now = performance.now();
    this.#running.delete(projectId);
    this.#endedAt.set(projectId, now);
    if (!isDone) this.#waitAgain(projectId, waiting, now);
    this.begin(now);
  }

  #waitAgain(projectId: string, waiting: Waiting, now: number): void {
    const later = this.#waiting.get(projectId);
    const { failures } = waiting;
    const pause = Math.min(UPLOAD_RETRY_MS * 2 ** failures, UPLOAD_RETRY_MAX_MS);
    const saved = waiting.saved || later?.saved === true;
    this.#waiting.set(projectId, { saved, dueAt: now + pause, failures: failures + 1 });
  }
}
