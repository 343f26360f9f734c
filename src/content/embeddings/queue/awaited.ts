import type { Sql } from "../../../db/client.ts";
import { SingleFlight } from "../../../ops/single-flight.ts";
import { type EmbeddedPosition, readEmbeddedPositions } from "./queries.ts";

/** Interval of reading the queue while a caller waits for embeddings. */
const EMBEDDED_POLL_MS = 50;

/** A wait for the embeddings of a project. */
interface EmbeddedWait {
  /** The only embedder whose embeddings are waited for; any if it is absent. */
  readonly embedder?: string;
  /** Ends the wait. */
  isOver(): boolean;
}

/** Waits for the embeddings of files that are stored. All waits share the queries of the queue. */
export class AwaitedEmbeddings {
  readonly #waits = new Set<{ readonly projectId: string }>();
  readonly #looks: SingleFlight<ReadonlyMap<string, EmbeddedPosition>>;

  constructor(sql: Sql) {
    this.#looks = new SingleFlight(() => {
      const projects = new Set([...this.#waits].map(({ projectId }) => projectId));
      return readEmbeddedPositions(sql, [...projects]);
    });
  }

  /**
   * The position in the change log at which the files that a project has now have their embeddings; 0 in a project
   * without an embedder. Files that are stored later do not prolong the wait. Undefined if the wait is over before.
   */
  async position(
    projectId: string,
    { embedder, isOver }: EmbeddedWait,
  ): Promise<number | undefined> {
    const wait = { projectId };
    this.#waits.add(wait);
    try {
      let last: number | null | undefined;
      for (;;) {
        const look = (await this.#looks.run()).get(projectId);
        if (look === undefined) return 0;
        const { seq, oldest, newest } = look;
        if (embedder !== undefined && look.embedder !== embedder) return seq;
        if (last === undefined) last = newest;
        if (last === null || oldest === null || oldest > last) return seq;
        if (isOver()) return undefined;
        await Bun.sleep(EMBEDDED_POLL_MS);
      }
    } finally {
      this.#waits.delete(wait);
    }
  }
}
