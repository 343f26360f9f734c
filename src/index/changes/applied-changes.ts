/** The progress of the indexes, sent with every change of it. */
export interface Progress {
  readonly type: "progress";
  /** The last change that was handed to the projects. */
  readonly reached: number;
  /** How often the log has been read to its end. */
  readonly ends: number;
  /** The last visible change of each project for which it may have changed. */
  readonly applied: ReadonlyArray<readonly [projectId: string, seq: number]>;
}

/** Changes that the project has received and its searches do not show yet. */
interface Lacking {
  /** The last change before them. */
  readonly seq: number;
  /** When this thread received them. */
  readonly since: number;
}

/** The changes in the indexes of this process, as the indexing thread reports them. */
export class AppliedChanges {
  /** The last change that was handed to the projects; before the thread has begun to follow the log, -1. */
  #reached = -1;
  /** The newest known change, with the time at which it became known. */
  #newest = { seq: 0, since: 0 };
  /** Since when the thread has not read the newest known change. */
  #unreadSince = 0;
  #ends = 0;
  /** The value of `#ends` at which a whole reading of the log has certainly begun after `#newest` became known. */
  #lostAfterEnds = 0;
  readonly #lacking = new Map<string, Lacking>();
  /** Each checks whether an awaited change is visible. */
  readonly #looks = new Set<() => void>();

  /** @param isLoaded true for a project in memory; any other is read from the current database */
  constructor(private readonly isLoaded: (projectId: string) => boolean) {}

  receive({ reached, ends, applied }: Progress): void {
    this.#reached = reached;
    this.#ends = ends;
    const now = performance.now();
    // A log that ends before the newest change has lost it: another server has taken over.
    const isLost = reached < this.#newest.seq && ends >= this.#lostAfterEnds;
    if (reached > this.#newest.seq || isLost) this.#newest = { seq: reached, since: now };
    for (const [id, seq] of applied) {
      if (seq >= reached) this.#lacking.delete(id);
      else if (this.#lacking.get(id)?.seq !== seq) this.#lacking.set(id, { seq, since: now });
    }
    for (const look of this.#looks) look();
  }

  /** Forgets all reports: the thread has ended, and the next one reports again. */
  clear(): void {
    this.#reached = -1;
    this.#ends = 0;
    this.#lostAfterEnds = 2;
    this.#lacking.clear();
  }

  /** Notes that this process knows of a change. */
  note(seq: number): void {
    if (seq <= this.#newest.seq) return;
    const since = performance.now();
    if (this.#newest.seq <= this.#reached) this.#unreadSince = since;
    this.#newest = { seq, since };
    // One reading may have begun before.
    this.#lostAfterEnds = this.#ends + 2;
  }

  /** The newest change that this process knows of, and since when. */
  get newest(): { readonly seq: number; readonly since: number } {
    return this.#newest;
  }

  /** The position up to which searches of a project see all changes. */
  of(projectId: string): number {
    const lacking = this.#lacking.get(projectId);
    if (lacking !== undefined) return lacking.seq;
    return this.isLoaded(projectId) ? this.#reached : Number.POSITIVE_INFINITY;
  }

  /** Resolves with true as soon as searches of a project see all changes up to this one; with false when the signal aborts. */
  async waitFor(projectId: string, seq: number, signal: AbortSignal): Promise<boolean> {
    if (this.of(projectId) >= seq) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = () => {
      if (this.of(projectId) >= seq) resolve(true);
    };
    const giveUp = () => resolve(false);
    this.#looks.add(look);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    const isThere = await promise;
    this.#looks.delete(look);
    signal.removeEventListener("abort", giveUp);
    return isThere;
  }

  /** Milliseconds since this process received the oldest change that searches may lack; 0 without one. */
  behindMs(projectId: string): number {
    const since = this.#lacking.get(projectId)?.since ?? Number.POSITIVE_INFINITY;
    const unread = this.#newest.seq > this.#reached ? this.#unreadSince : Number.POSITIVE_INFINITY;
    const oldest = Math.min(since, unread);
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(1, performance.now() - oldest);
  }
}
