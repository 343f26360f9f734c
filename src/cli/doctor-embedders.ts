import { HASHING } from "../config/embedders.ts";
import type { Sql } from "../db/client.ts";
import { projectsOfOthers } from "../embeddings/others.ts";
import { EMBED_PROBE } from "../import/embedders/endpoint.ts";
import { ownDimension, type ProjectEmbedder } from "../import/embedders/project-embedders.ts";
import { configuredEmbedders, openEmbedders } from "./configured-embedder.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";
import type { Io } from "./io.ts";

/** A model has to be loaded within this time, too. */
const TRIAL_TIMEOUT_MS = 20_000;

/** Embeds a text by each embedder, and reports those that fail. */
export async function checkEmbedders(io: Io): Promise<Finding[]> {
  const { embedders, unusable } = await openEmbedders(io);
  const tried = [...embedders.values()].filter(({ name }) => name !== HASHING).map(tryEmbedder);
  return [
    ...(await Promise.all(tried)),
    ...unusable.map((message) => failed("embedder", message, "see docs/models.md")),
  ];
}

async function tryEmbedder({ name, fingerprint, embedQuery }: ProjectEmbedder): Promise<Finding> {
  const check = `embedder ${name}`;
  const start = performance.now();
  try {
    await embedQuery(EMBED_PROBE, TRIAL_TIMEOUT_MS);
    const took = Math.round(performance.now() - start);
    return ok(check, `embeds a text in ${took} ms, ${ownDimension(fingerprint)} dimensions`);
  } catch (error) {
    const remedy = "see that it runs, and compare its settings in EMBEDDERS";
    return failed(check, (error as Error).message, remedy);
  }
}

/** Projects whose embeddings are of another model than their embedder has now. */
export async function checkProjectEmbedders(io: Io, sql: Sql): Promise<Finding[]> {
  const others = await projectsOfOthers(sql, await configuredEmbedders(io));
  return others.map(({ message, remedy }) => warning("embeddings", message, remedy));
}
