import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { Sql } from "../../db/client.ts";
import { fingerprintsOf, projectEmbedders } from "../../import/embedders/project-embedders.ts";
import { ImportThreads } from "../../import/thread/import-threads.ts";
import { LocalModels } from "../../models/local-models.ts";
import type { Log } from "../../observability/log.ts";
import type { Resources } from "../../shared/lifecycle.ts";
import { projectsOfOthers } from "../others.ts";
import { QueryEmbedder } from "../query-embedder.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";

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
  for (const { message, remedy } of await projectsOfOthers(sql, embedders)) {
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
