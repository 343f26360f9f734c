import { findProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { CHANGE_WAIT_MAX_MS } from "../../domain/limits.ts";
import type { Position } from "../../domain/position.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { AwaitedChange, Engine } from "../../engine/engine.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import type { Changes, ChangeWait } from "../../http/min-change.ts";
import { ChangeLog } from "../../index/changes/change-log.ts";
import { untilShown } from "../../index/changes/visibility.ts";
import { FairSemaphore } from "../../ops/tenants/fair-semaphore.ts";
import { within } from "../../ops/within.ts";
import { AwaitedEmbeddings } from "../embeddings/queue/awaited.ts";

/** Reads that may wait for changes; tenants share these places. */
const CHANGE_WAITS_MAX = 1_024;
/**
 * The purpose for which tokens are sealed. A token holds for the whole database, so a caller needs only the last one.
 */
const BINDING = "change";

/** A read that waits for an index. */
interface IndexWait extends ChangeWait {
  readonly reads: NonNullable<ChangeWait["reads"]>;
  readonly position: Position;
}

const unknownToken = () =>
  invalid([{ field: "min_change", message: "must be the X-Change of an answer of this service" }]);

/**
 * The token of a change is its sealed position. That of a write is the last position after its commit, so it also covers
 * the earlier commits of others.
 */
export class ChangeGate implements Changes {
  readonly #permits = new FairSemaphore({ permits: CHANGE_WAITS_MAX });
  readonly #embeddings: AwaitedEmbeddings;
  readonly #log: ChangeLog;

  constructor(
    private readonly sql: Sql,
    private readonly cursors: CursorSigner,
    private readonly engine: Pick<Engine, "noteChange" | "waitFor">,
  ) {
    this.#embeddings = new AwaitedEmbeddings(sql);
    this.#log = new ChangeLog(sql);
  }

  async token(): Promise<string | undefined> {
    const newest = await this.#log.newest().catch(() => undefined);
    if (newest === undefined) return undefined;
    this.engine.noteChange(newest.seq);
    return this.cursors.seal(BINDING, [newest.seq, newest.at]);
  }

  async wait(read: ChangeWait): Promise<void> {
    const position = this.#positionOf(read.token);
    const { principal, reads } = read;
    if (reads === undefined) return;
    await this.#permits.run(principal.userId, () => this.#wait({ ...read, reads, position }));
  }

  #positionOf(token: string): Position {
    let position: unknown;
    try {
      position = this.cursors.open(BINDING, token);
    } catch (error) {
      if (error instanceof Problem && error.slug === "invalid-cursor") throw unknownToken();
      throw error;
    }
    if (!Array.isArray(position)) throw unknownToken();
    const [seq, at] = position;
    return { seq, at };
  }

  async #wait({ principal, reference, reads, position, request }: IndexWait): Promise<void> {
    const projectId = await findProject(this.sql, principal, reference);
    // A restored backup, or a standby that took over, has lost changes, which never arrive.
    if ((await this.#log.checkAnchor(position)) === "mismatch") throw unknownToken();
    const { seq } = position;
    this.engine.noteChange(seq);
    const wait = (signal: AbortSignal) =>
      reads === "reports"
        ? untilShown(this.sql, { projects: [projectId], position, signal })
        : this.#applied({ projectId, seq, read: reads, signal });
    const isThere = await within(CHANGE_WAIT_MAX_MS, wait, request.signal);
    if (!isThere) throw new Problem("index-behind");
  }

  /** The embeddings of a text are a later change, which the project's embedder makes. */
  async #applied(change: AwaitedChange): Promise<boolean> {
    const { projectId, seq, read, signal } = change;
    const isOver = () => signal.aborted;
    const embedded =
      read === "vectors" ? await this.#embeddings.position(projectId, { isOver }) : 0;
    if (embedded === undefined) return false;
    return await this.engine.waitFor({ ...change, seq: Math.max(seq, embedded) });
  }
}
