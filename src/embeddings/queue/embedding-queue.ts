import { EMBEDDINGS_CHANNEL } from "../../db/channels.ts";
import type { Sql } from "../../db/client.ts";
import type { UsableEmbedder } from "../../models/local-models.ts";
import type { Log } from "../../observability/log.ts";
import { runPeriodically } from "../../observability/periodic.ts";
import { SupervisedThread } from "../../threads/supervised-thread.ts";
import type { EmbeddingProtocol } from "./messages.ts";
import { isWaiting } from "./queries.ts";

/** How often the queue is looked at, in case a notification is lost or an embedder is back. */
const EMBED_POLL_MS = 2_000;
/** The thread ends after this time without work. */
const EMBED_THREAD_IDLE_MS = 20_000;

/**
 * Embeds files that wait for their embeddings, on a thread that runs only while some do. The queue is in
 * PostgreSQL, and every node works on it.
 */
export class EmbeddingQueue {
  #thread: SupervisedThread<EmbeddingProtocol> | undefined;
  #running = false;
  #again = false;
  #closed = false;
  /** The texts that requests to embedders may have, which outlives the threads that find it out. */
  #batches: EmbeddingProtocol["result"] = {};

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    private readonly options: EmbeddingProtocol["options"],
    private readonly startModel: (name: string) => void,
  ) {
    const look = () => void this.#look().catch(() => {});
    sql.listen(EMBEDDINGS_CHANNEL, look, look).catch((err: unknown) => {
      log.warn({ err }, "cannot listen for files to embed; polling for them instead");
    });
    runPeriodically(
      {
        ...{ what: "looking for files to embed", intervalMs: EMBED_POLL_MS, log },
        isStopping: () => this.#closed,
      },
      () => this.#look(),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.close();
  }

  /** Runs the thread while files wait that can be embedded. */
  async #look(): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    try {
      do {
        this.#again = false;
        if (this.#closed || !(await isWaiting(this.sql)) || this.#closed) return;
        this.#batches = await this.#started().run(null);
      } while (this.#again);
    } catch (err) {
      if (!this.#closed) this.log.warn({ err }, "embedding files was interrupted; retrying");
    } finally {
      this.#running = false;
    }
  }

  readonly #withBatch = <E extends UsableEmbedder>(embedder: E): E => ({
    ...embedder,
    batch: this.#batches[embedder.name] ?? embedder.batch,
  });

  #started(): SupervisedThread<EmbeddingProtocol> {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new SupervisedThread<EmbeddingProtocol>({
        entry: new URL("./thread.ts", import.meta.url),
        name: "tessera-embeddings",
        options: { ...this.options, embedders: this.options.embedders.map(this.#withBatch) },
        idleMs: EMBED_THREAD_IDLE_MS,
        receive: this.startModel,
      });
    }
    return this.#thread;
  }
}
