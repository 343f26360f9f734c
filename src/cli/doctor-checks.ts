import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { mismatchedProjects } from "../content/embeddings/mismatched-projects.ts";
import type { Sql } from "../db/client.ts";
import { EMBED_PROBE } from "../embed/embedders/endpoint.ts";
import { ownDimension, type ProjectEmbedder } from "../embed/embedders/project-embedders.ts";
import { HASHING } from "../ops/config/embedders.ts";
import type { Config } from "../ops/config/schema.ts";
import { configuredEmbedders, openEmbedders } from "./configured-embedder.ts";
import type { Io } from "./io.ts";

/** The result of a check. `remedy` mends a warning or a failure. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly found: string;
  readonly remedy?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, state: "ok", found });
export const warning = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: "warning",
  found,
  remedy,
});
export const failed = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: "failed",
  found,
  remedy,
});

/** With less free space, `doctor` warns. */
const DISK_FREE_SAFE_BYTES = 2_147_483_648;
/** With less, the disk is full: PostgreSQL needs as much for the next segment of its log. */
const DISK_FULL_BYTES = 16_777_216;

const BYTES_PER_GIB = 1_073_741_824;

/** Whether DATA_DIR has space and may be written to. */
export function checkDisk({ dataDir }: Config): Finding {
  try {
    const folder = existingParent(dataDir);
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const found = `${(free / BYTES_PER_GIB).toFixed(1)} GiB free in ${dataDir}`;
    if (free >= DISK_FREE_SAFE_BYTES) return ok("disk", found);
    const remedy = "free some space: snapshots and an embedded database need it";
    if (free >= DISK_FULL_BYTES) return warning("disk", found, remedy);
    return failed("disk", `full: ${found}`, `${remedy}; or move DATA_DIR`);
  } catch (error) {
    const remedy = "make DATA_DIR a folder that this account may write to";
    return failed("disk", (error as Error).message, remedy);
  }
}

/** The folder itself, or where it is going to be created. */
function existingParent(folder: string): string {
  return existsSync(folder) ? folder : existingParent(dirname(folder));
}

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
  const others = await mismatchedProjects(sql, await configuredEmbedders(io));
  return others.map(({ message, remedy }) => warning("embeddings", message, remedy));
}
