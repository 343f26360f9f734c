import { openDatabase } from "../../../db/client.ts";
import { projectEmbedders } from "../../../embed/embedders/project-embedders.ts";
import { createLog } from "../../../ops/observability/log.ts";
import { setThreadNiceness } from "../../../ops/thread-priority.ts";
import { postEvent, runThread, threadOptions } from "../../../ops/threads/run-thread.ts";
import { Drain } from "./drain.ts";
import type { EmbeddingProtocol } from "./messages.ts";

/** All requests go before embedding files. */
const EMBED_NICENESS = 10;
const EMBED_DB_CONNECTIONS = 4;
const REBUILD_DB_CONNECTIONS = 2;
const EMBED_TASK_MS = 2_000;

/** The entry point of the thread that embeds files which wait, whose texts and vectors would delay requests. */
const { databaseUrl, embedders, batches, logLevel } = threadOptions<EmbeddingProtocol>();
const log = createLog(logLevel);
const sql = openDatabase(databaseUrl, {
  connections: EMBED_DB_CONNECTIONS,
  applicationName: "tessera-embeddings",
  patience: "background",
});
const unlimited = openDatabase(databaseUrl, {
  connections: REBUILD_DB_CONNECTIONS,
  applicationName: "tessera-rebuilds",
  statementTimeoutMs: 0,
});
// The main thread starts the processes of models, which outlive this thread.
const startModel = (name: string) => postEvent<EmbeddingProtocol>(name);
const drains = [...projectEmbedders(embedders, startModel, batches).values()].map(
  (each) => new Drain(sql, log, each, unlimited),
);

setThreadNiceness(EMBED_NICENESS);
runThread<EmbeddingProtocol>({
  async run() {
    // A long queue of one embedder goes on during the next tasks, which look at the other embedders again.
    await Promise.race([Promise.all(drains.map((drain) => drain.run())), Bun.sleep(EMBED_TASK_MS)]);
    return {
      batches: Object.fromEntries(
        drains.map(({ embedder: { name, batchInputs } }) => [name, batchInputs]),
      ),
      isBusy: drains.some(({ isRunning }) => isRunning),
    };
  },
});
