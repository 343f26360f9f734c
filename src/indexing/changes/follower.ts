import type { Sql } from "../../db/client.ts";
import type { Log } from "../../observability/log.ts";
import { CHANGE_BATCH_MAX, CHANGE_POLL_INTERVAL_MS } from "../../shared/limits.ts";
import type { Anchor, Change, ChangeLog } from "./change-log.ts";

const CHANNEL = "tessera_changes";

/**
 * Follows the change log from its present end. Notifications make it quick, polling makes it sure:
 * a lost notification or a broken listener costs no more than CHANGE_POLL_INTERVAL_MS.
 */
export class Follower {
  /** The last entry that was handed on. */
  reached: Anchor;
  #wake: () => void = () => {};
  #woken = false;
  #stopped = false;
  #failing = false;

  private constructor(
    private readonly log: Log,
    private readonly changes: ChangeLog,
    private readonly apply: (change: Change) => void,
    start: Anchor,
  ) {
    this.reached = start;
  }

  static async start(
    sql: Sql,
    log: Log,
    changes: ChangeLog,
    apply: (change: Change) => void,
  ): Promise<Follower> {
    const follower = new Follower(log, changes, apply, await changes.newest());
    const wake = () => follower.#notified();
    // The listener reconnects by itself; `wake` then looks for what was missed.
    sql.listen(CHANNEL, wake, wake).catch((err: unknown) => {
      log.warn({ err }, "changes are not heard at once; they are polled for");
    });
    void follower.#follow();
    return follower;
  }

  /** True while the database does not answer. */
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
      const more = await this.#step();
      if (!more && !this.#woken && !this.#stopped) await this.#pause();
    }
  }

  /** Hands on the next entries; true when there may be more. */
  async #step(): Promise<boolean> {
    try {
      const changes = await this.changes.after(this.reached.seq);
      for (const change of changes) this.apply(change);
      const last = changes.at(-1);
      if (last !== undefined) this.reached = { seq: last.seq, at: last.at };
      if (this.#failing) this.log.info("the change log can be read again");
      this.#failing = false;
      return changes.length === CHANGE_BATCH_MAX;
    } catch (err) {
      if (!this.#failing && !this.#stopped) {
        this.log.warn({ err }, "the change log cannot be read; trying on");
      }
      this.#failing = true;
      return false;
    }
  }

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
