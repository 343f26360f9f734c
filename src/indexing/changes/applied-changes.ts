/** How far the indexes have come, sent whenever it changes. */
export interface Progress {
  readonly type: "progress";
  /** The last change that was handed to the projects. */
  readonly reached: number;
  /** How often the log has been read to its end. */
  readonly ends: number;
  /** Projects whose oldest waiting change may be another now, with that change; 0 while one is being loaded. */
  readonly pending: ReadonlyArray<readonly [projectId: string, seq: number | undefined]>;
}

/** A change that is waited for. */
export interface AwaitedChange {
  readonly projectId: string;
  readonly seq: number;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly seq: number;
  readonly end: (isApplied: boolean) => void;
}

interface Pending {
  readonly seq: number;
  /** When this thread has heard of it. */
  readonly since: number;
}

/** What this process's indexes have of the change log, as the indexing thread tells it. */
export class AppliedChanges {
  /** The last change that was handed to the projects; before the thread has begun to follow the log, -1. */
  #reached = -1;
  /** The newest change that this process knows of, since when, and since when it has one that the thread has not read. */
  #newest = { seq: 0, since: 0 };
  #unreadSince = 0;
  #ends = 0;
  /** The end of the log is read this often before it certainly was after `#newest` became known. */
  #lostAfterEnds = 0;
  /** The oldest change of each project that searches do not see. */
  readonly #pending = new Map<string, Pending>();
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** @param isLoaded true for a project in memory; any other is read from the database as it is by then */
  constructor(private readonly isLoaded: (projectId: string) => boolean) {}

  receive({ reached, ends, pending }: Progress): void {
    this.#reached = reached;
    this.#ends = ends;
    const now = performance.now();
    // A log that ends before the newest change has lost it: another server has taken over.
    const isLost = reached < this.#newest.seq && ends >= this.#lostAfterEnds;
    if (reached > this.#newest.seq || isLost) this.#newest = { seq: reached, since: now };
    for (const [id, seq] of pending) {
      if (seq === undefined) this.#pending.delete(id);
      else if (this.#pending.get(id)?.seq !== seq) this.#pending.set(id, { seq, since: now });
    }
    for (const projectId of this.#waiting.keys()) this.#endApplied(projectId);
  }

  /** Nothing is known any more: the thread has ended, and the next one tells it again. */
  clear(): void {
    this.#reached = -1;
    this.#ends = 0;
    this.#lostAfterEnds = 2;
    this.#pending.clear();
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

  /** True once searches of the project see all changes up to this one. */
  has(projectId: string, seq: number): boolean {
    return seq <= this.#applied(projectId);
  }

  /** Resolves with true as soon as `has` is, or with false when the time is over or the signal ends it. */
  wait({ projectId, seq, timeoutMs, signal }: AwaitedChange): Promise<boolean> {
    if (this.has(projectId, seq)) return Promise.resolve(true);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = this.#waiting.get(projectId) ?? new Set();
    this.#waiting.set(projectId, waiting);
    const giveUp = () => end(false);
    const timer = setTimeout(giveUp, timeoutMs);
    const end = (isApplied: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      waiting.delete(one);
      if (waiting.size === 0 && this.#waiting.get(projectId) === waiting) {
        this.#waiting.delete(projectId);
      }
      resolve(isApplied);
    };
    const one = { seq, end };
    waiting.add(one);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    return promise;
  }

  /** How many milliseconds ago this process heard of the oldest change that searches may lack; 0 without one. */
  behindMs(projectId: string): number {
    const since = this.#pending.get(projectId)?.since ?? Number.POSITIVE_INFINITY;
    const unread = this.#newest.seq > this.#reached ? this.#unreadSince : Number.POSITIVE_INFINITY;
    const oldest = Math.min(since, unread);
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(1, performance.now() - oldest);
  }

  #applied(projectId: string): number {
    const pending = this.#pending.get(projectId);
    if (pending !== undefined) return Math.min(this.#reached, pending.seq - 1);
    return this.isLoaded(projectId) ? this.#reached : Number.POSITIVE_INFINITY;
  }

  #endApplied(projectId: string): void {
    const applied = this.#applied(projectId);
    for (const { seq, end } of this.#waiting.get(projectId) ?? []) if (seq <= applied) end(true);
  }
}
