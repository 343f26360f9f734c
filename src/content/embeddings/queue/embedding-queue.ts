import { join } from "node:path";
import { EMBEDDINGS_CHANNEL } from "../../../db/channels.ts";
import type { Sql } from "../../../db/client.ts";
import { fingerprintsOf, projectEmbedders } from "../../../embed/embedders/project-embedders.ts";
import { LocalModels } from "../../../embed/models/local-models.ts";
import type { Config } from "../../../ops/config/schema.ts";
import type { Resources } from "../../../ops/lifecycle.ts";
import type { Log } from "../../../ops/observability/log.ts";
import { runPeriodically } from "../../../ops/observability/periodic.ts";
import { SupervisedThread } from "../../../ops/threads/supervised-thread.ts";
import { ImportThreads } from "../../import/thread/import-threads.ts";
import { mismatchedProjects } from "../mismatched-projects.ts";
import { QueryEmbedder } from "../query-embedder.ts";
import type { EmbeddingProtocol } from "./messages.ts";
import { isWaiting } from "./queries.ts";

/** Interval of reading the queue, in case a notification is lost or an embedder is back. */
const EMBED_POLL_MS = 2_000;
/** The thread ends after this time without work. */
const EMBED_THREAD_IDLE_MS = 20_000;

/** A thread that embeds files, as far as it is used here. */
type EmbeddingThread = Pick<SupervisedThread<EmbeddingProtocol>, "run" | "close" | "hasEnded">;

/** Starts a thread, which reports the names of embedders whose models have to be started. */
type StartThread = (
  options: EmbeddingProtocol["options"],
  startModel: (name: string) => void,
) => EmbeddingThread;

const startThread: StartThread = (options, startModel) =>
  new SupervisedThread<EmbeddingProtocol>({
    entry: new URL("./thread.ts", import.meta.url),
    name: "tessera-embeddings",
    options,
    idleMs: EMBED_THREAD_IDLE_MS,
    receive: startModel,
  });

/**
 * Embeds files that wait for their embeddings, on a thread that runs only while some do. The queue is in
 * PostgreSQL, and every node works on it.
 */
export class EmbeddingQueue {
  #thread: EmbeddingThread | undefined;
  #running = false;
  #again = false;
  #closed = false;
  /** The texts that requests to embedders may have, which outlives the threads that find it out. */
  #batches: EmbeddingProtocol["result"]["batches"] = {};
  /** The thread is at work on files that no longer wait. It ends when it has no task for some time. */
  #isBusy = false;

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    private readonly options: EmbeddingProtocol["options"],
    private readonly startModel: (name: string) => void,
    private readonly start: StartThread = startThread,
  ) {
    const look = () => void this.#look().catch(() => {});
    sql.listen(EMBEDDINGS_CHANNEL, look, look).catch((err: unknown) => {
      log.warn({ err }, "cannot listen for files to embed; polling for them instead");
    });
    runPeriodically(
      {
        task: "looking for files to embed",
        intervalMs: EMBED_POLL_MS,
        log,
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
        const hasWork = !this.#closed && (this.#isBusy || (await isWaiting(this.sql)));
        if (!hasWork || this.#closed) return;
        ({ batches: this.#batches, isBusy: this.#isBusy } = await this.#started().run(null));
      } while (this.#again);
    } catch (err) {
      this.#isBusy = false;
      if (!this.#closed) this.log.warn({ err }, "embedding files was interrupted; retrying");
    } finally {
      this.#running = false;
    }
  }

  #started(): EmbeddingThread {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = this.start({ ...this.options, batches: this.#batches }, this.startModel);
    }
    return this.#thread;
  }
}

/** Opens the models, and the embedders of queries, imports and waiting files. */
export async function openEmbedding(
  { embedders: configs, dataDir, logLevel }: Config,
  { sql, url: databaseUrl }: { readonly sql: Sql; readonly url: string },
  log: Log,
  resources: Resources,
) {
  const models = await LocalModels.open(configs, {
    dataDir,
    warn: (message) => log.warn(message),
  });
  resources.push("models", () => models.close());
  const embedders = projectEmbedders(models.embedders, models.start);
  for (const { message, remedy } of await mismatchedProjects(sql, embedders)) {
    log.warn(`${message}; ${remedy}`);
  }
  const queries = new QueryEmbedder(sql, embedders);
  const spoolFolder = join(dataDir, "uploads");
  const fingerprints = fingerprintsOf(embedders);
  const imports = new ImportThreads({ databaseUrl, spoolFolder, embedders: fingerprints });
  resources.push("imports", () => imports.close());
  const queueOptions = { databaseUrl, embedders: models.embedders, logLevel };
  const queue = new EmbeddingQueue(sql, log, queueOptions, models.start);
  resources.push("embeddings", () => queue.close());
  return { embedders, queries, imports };
}
