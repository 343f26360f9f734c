import type { Sql } from "../../db/client.ts";
import { SharedWork } from "../../shared/shared-work.ts";
import { type EmbeddedPosition, readEmbeddedPosition } from "./queries.ts";

/** How often those who wait for embeddings look at the queue. */
const EMBEDDED_POLL_MS = 50;

interface Look {
  readonly work: SharedWork<EmbeddedPosition | undefined>;
  /** How many wait for it. */
  users: number;
}

/** Waits for the embeddings of files that are stored. All who wait for a project share its queries. */
export class AwaitedEmbeddings {
  readonly #looks = new Map<string, Look>();

  constructor(private readonly sql: Sql) {}

  /**
   * The position in the change log at which the files that a project has now have their embeddings; 0 in a
   * project without an embedder. Undefined when the time is over or the signal ends the wait.
   */
  async position(
    projectId: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const look = this.#looks.get(projectId) ?? {
      work: new SharedWork(() => readEmbeddedPosition(this.sql, projectId)),
      users: 0,
    };
    this.#looks.set(projectId, look);
    look.users++;
    try {
      for (;;) {
        const { seq = 0, waits = false } = (await look.work.run()) ?? {};
        if (!waits) return seq;
        if (signal.aborted || performance.now() > deadline) return undefined;
        await Bun.sleep(EMBEDDED_POLL_MS);
      }
    } finally {
      look.users--;
      if (look.users === 0) this.#looks.delete(projectId);
    }
  }
}
