/** How far the indexes have come, sent whenever it changes. */
export interface Progress {
  readonly type: "progress";
  /** The last change that was handed to the projects. */
  readonly reached: number;
  /** How often the log has been read to its end. */
  readonly ends: number;
  /** Up to where searches see each project for which that may be another change now. */
  readonly applied: ReadonlyArray<readonly [projectId: string, seq: number]>;
}

/** Changes that searches of a project lack, although they were handed to it. */
interface Lacking {
  /** The last change before them. */
  readonly seq: number;
  /** When this thread has heard of them. */
  readonly since: number;
}

/** The changes in the indexes of this process, as the indexing thread reports them. */
export class AppliedChanges {
  /** The last change that was handed to the projects; before the thread has begun to follow the log, -1. */
  #reached = -1;
  /** The newest change that this process knows of, since when, and since when it has one that the thread has not read. */
  #newest = { seq: 0, since: 0 };
  #unreadSince = 0;
  #ends = 0;
  /** The end of the log is read this often before it certainly was after `#newest` became known. */
  #lostAfterEnds = 0;
  readonly #lacking = new Map<string, Lacking>();
  /** Each looks whether a change that is waited for is there. */
  readonly #looks = new Set<() => void>();

  /** @param isLoaded true for a project in memory; any other is read from the database as it is by then */
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

  /** This process knows that there is such a change. */
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

  /** The last change up to which searches of a project see all. */
  of(projectId: string): number {
    const lacking = this.#lacking.get(projectId);
    if (lacking !== undefined) return lacking.seq;
    return this.isLoaded(projectId) ? this.#reached : Number.POSITIVE_INFINITY;
  }

  /** Resolves with true as soon as searches of a project see all changes up to this one; with false once the signal ends that. */
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

  /** How many milliseconds ago this process heard of the oldest change that searches may lack; 0 without one. */
  behindMs(projectId: string): number {
    const since = this.#lacking.get(projectId)?.since ?? Number.POSITIVE_INFINITY;
    const unread = this.#newest.seq > this.#reached ? this.#unreadSince : Number.POSITIVE_INFINITY;
    const oldest = Math.min(since, unread);
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(1, performance.now() - oldest);
  }
}
