import { CHANGES_CHANNEL } from "../../db/channels.ts";
import type { Sql } from "../../db/client.ts";
import { CHANGE_BATCH_MAX, CHANGE_POLL_INTERVAL_MS } from "../../domain/limits.ts";
import type { Position } from "../../domain/position.ts";
import type { Log } from "../../ops/observability/log.ts";
import type { Change, ChangeLog } from "./change-log.ts";

interface FollowerEvents {
  apply(change: Change): void;
  /** Changes were missed. Resolves when everything that may have changed is noted. */
  missed(): Promise<void>;
  /** All changes up to this one were applied, or the log was read to its end again. */
  reached?(seq: number): void;
}

/**
 * Follows the change log. Notifications make it fast, and polling makes it
 * reliable: a lost notification delays a change by CHANGE_POLL_INTERVAL_MS at most.
 */
export class Follower {
  /** The last entry that was applied. */
  reached: Position;
  /** How often the log has been read to its end. */
  ends = 0;
  #wake: () => void = () => {};
  #woken = false;
  #stopped = false;
  #failing = false;

  private constructor(
    private readonly log: Log,
    private readonly changes: ChangeLog,
    private readonly events: FollowerEvents,
    start: Position,
  ) {
    this.reached = start;
  }

  /** Begins after `from`, or else after the newest entry. */
  static async start(
    sql: Sql,
    log: Log,
    changes: ChangeLog,
    events: FollowerEvents,
    from?: Position,
  ): Promise<Follower> {
    const follower = new Follower(log, changes, events, from ?? (await changes.newest()));
    const wake = () => follower.#notified();
    // The listener reconnects by itself and then calls `wake`, which catches up on missed changes.
    sql.listen(CHANGES_CHANNEL, wake, wake).catch((err: unknown) => {
      log.warn({ err }, "cannot listen for changes; polling for them instead");
    });
    void follower.#follow();
    return follower;
  }

  /** True while the change log cannot be read. */
  get failing(): boolean {
    return this.#failing;
  }

  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  #notified(): void {
    this.#woken = true;
    this.#wake();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const more = await this.#applyNext();
      if (!more && !this.#woken && !this.#stopped) await this.#pause();
    }
  }

  /** Applies the next entries; true when there may be more. */
  async #applyNext(): Promise<boolean> {
    try {
      const changes = await this.changes.following(this.reached);
      if (changes === null) await this.#startOver();
      for (const change of changes ?? []) this.events.apply(change);
      const last = changes?.at(-1);
      if (changes?.length === 0) this.ends++;
      if (changes !== null) this.#reach(last === undefined ? this.reached : last);
      if (this.#failing) this.log.info("the change log can be read again");
      this.#failing = false;
      return changes === null || changes.length >= CHANGE_BATCH_MAX;
    } catch (err) {
      if (!this.#failing && !this.#stopped) {
        this.log.warn({ err }, "cannot read the change log; retrying");
      }
      this.#failing = true;
      return false;
    }
  }

  /** Follows the log from its end, after the changes that were missed. */
  async #startOver(): Promise<void> {
    this.log.warn("the database has lost changes that were read; all projects are indexed again");
    const newest = await this.changes.newest();
    await this.events.missed();
    this.#reach(newest);
  }

  #reach({ seq, at }: Position): void {
    this.reached = { seq, at };
    this.events.reached?.(seq);
  }

  /** Waits for a notification, or for the next poll. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CHANGE_POLL_INTERVAL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
