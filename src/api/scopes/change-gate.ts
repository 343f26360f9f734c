import { findProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { AwaitedEmbeddings } from "../../embeddings/queue/awaited.ts";
import type { Engine, IndexRead } from "../../engine/engine.ts";
import type { Changes, ChangeWait } from "../../http/changes.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { untilShown } from "../../indexing/changes/visibility.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import { CHANGE_WAIT_MAX_MS } from "../../shared/limits.ts";
import { TenantGate } from "../../tenants/tenant-gate.ts";

/** Reads that may wait for changes; tenants share these places. */
const CHANGE_WAITS_MAX = 1_024;
/** What tokens are sealed for. They hold for the whole database, so that a caller needs the last one only. */
const BINDING = "change";

interface Wait {
  readonly projectId: string;
  readonly position: number;
  /** The time at which the wait is over. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

const unknownToken = () =>
  invalid([{ field: "min_change", message: "must be the X-Change of an answer of this service" }]);

/**
 * A change is a position in the change log, and its token that position, sealed. A write is answered with
 * what is the last position after its commit, so the token also covers what others have committed before.
 */
export class ChangeGate implements Changes {
  readonly #places = new TenantGate({ places: CHANGE_WAITS_MAX });
  readonly #embeddings: AwaitedEmbeddings;
  /** The newest position that the log is known to have. */
  #newest = 0;

  constructor(
    private readonly sql: Sql,
    private readonly cursors: CursorSigner,
    private readonly engine: Pick<Engine, "noteChange" | "whenApplied">,
  ) {
    this.#embeddings = new AwaitedEmbeddings(sql);
  }

  async token(): Promise<string | undefined> {
    const position = await this.#readNewest().catch(() => undefined);
    return position === undefined ? undefined : this.cursors.seal(BINDING, position);
  }

  positionOf(token: string): number {
    let position: unknown;
    try {
      position = this.cursors.open(BINDING, token);
    } catch (error) {
      if (error instanceof Problem && error.slug === "invalid-cursor") throw unknownToken();
      throw error;
    }
    if (typeof position !== "number") throw unknownToken();
    return position;
  }

  wait(asked: ChangeWait): Promise<void> {
    return this.#places.run(asked.principal.userId, () => this.#wait(asked));
  }

  async #wait({ principal, reference, position, read, request }: ChangeWait): Promise<void> {
    const projectId = await findProject(this.sql, principal, reference);
    // A backup that was restored has lost changes, and what is not in the log never comes.
    if (position > this.#newest && position > (await this.#readNewest())) throw unknownToken();
    const { signal } = request;
    const deadline = performance.now() + CHANGE_WAIT_MAX_MS;
    const wait = { projectId, position, deadline, signal };
    const isThere = await (read === "reports" ? this.#reported(wait) : this.#applied(wait, read));
    if (!isThere) throw new Problem("index-behind");
  }

  #reported({ projectId, position, deadline, signal }: Wait): Promise<boolean> {
    const timeoutMs = deadline - performance.now();
    return untilShown(this.sql, { projects: [projectId], position, timeoutMs, signal });
  }

  /** The vectors of a text are a change of their own, which the project's embedder makes after the other. */
  async #applied(wait: Wait, read: IndexRead): Promise<boolean> {
    const { projectId, position, deadline, signal } = wait;
    const embedded =
      read === "vectors" ? await this.#embeddings.position(projectId, deadline, signal) : 0;
    if (embedded === undefined) return false;
    const timeoutMs = Math.max(0, deadline - performance.now());
    const change = { projectId, seq: Math.max(position, embedded), timeoutMs, signal };
    return await this.engine.whenApplied(change, read);
  }

  async #readNewest(): Promise<number> {
    const [row] = await this.sql<{ seq: number }[]>`
      SELECT coalesce(max(seq), 0)::float8 AS seq FROM change_log`;
    const { seq = 0 } = row ?? {};
    this.#newest = Math.max(this.#newest, seq);
    this.engine.noteChange(seq);
    return seq;
  }
}
