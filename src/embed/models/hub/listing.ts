import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { boundedFetch } from "../../../ops/bounded-fetch.ts";
import { ModelError } from "../model-error.ts";

/** Maximum bytes of an answer of the hub. A list of files has some hundred bytes per file. */
const HUB_ANSWER_MAX_BYTES = 8_388_608;
const HUB_TIMEOUT_MS = 30_000;
/** Statuses of the hub for a repository that does not exist, or that needs access rights. */
const ABSENT = new Set([401, 403, 404]);

const SHA1 = "^[0-9a-f]{40}$";
const SHA256 = "^[0-9a-f]{64}$";

const Revision = Type.Object({ sha: Type.String({ pattern: SHA1 }) });
const Entry = Type.Object({
  type: Type.String(),
  path: Type.String(),
  size: Type.Integer({ minimum: 0 }),
  /** Git's checksum over the length and the content. */
  oid: Type.String({ pattern: SHA1 }),
  lfs: Type.Optional(Type.Object({ oid: Type.String({ pattern: SHA256 }) })),
});
const Tree = Type.Array(Entry);

/** A file of a repository, with the checksum that the hub states: SHA-256, or SHA-1 as Git computes it. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  readonly checksum: string;
}

interface HubRevision {
  /** The commit, whose files never change. */
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** Asks a hub for a revision of a repository and its files. Throws a ModelError. */
export async function readRevision(
  hub: string,
  repository: string,
  revision: string,
): Promise<HubRevision> {
  const at = `${hub}/api/models/${repository}`;
  const name = `${repository} (${revision})`;
  const { sha } = await ask(`${at}/revision/${encodeURIComponent(revision)}`, Revision, name);
  const tree = await ask(`${at}/tree/${sha}?recursive=true`, Tree, name);
  const files = tree
    .filter(({ type }) => type === "file")
    .map(({ path, size, oid, lfs }) => ({ path, size, checksum: lfs?.oid ?? oid }));
  return { commit: sha, files };
}

async function ask<T extends TSchema>(url: string, schema: T, name: string): Promise<Static<T>> {
  const { host } = new URL(url);
  const signal = AbortSignal.timeout(HUB_TIMEOUT_MS);
  let text: string;
  try {
    const response = await boundedFetch(url, { signal }, HUB_ANSWER_MAX_BYTES);
    if (ABSENT.has(response.status)) throw new ModelError(`${host} has no model ${name}`);
    if (!response.ok) throw new ModelError(`${host} answered ${response.status} for ${name}`);
    text = await response.text();
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError(
      `${host} cannot be reached: ${(error as Error).message}; --hub names a mirror`,
    );
  }
  try {
    return Value.Decode(schema, JSON.parse(text));
  } catch {
    throw new ModelError(`${host} does not answer as a hub of models does`);
  }
}
