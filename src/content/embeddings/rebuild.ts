import pRetry from "p-retry";
import { type Actor, actAs } from "../../auth/audit/actor.ts";
import { noteChange } from "../../auth/audit/changes.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";
import { bytesOf, count, type StoredRow } from "../../db/quotas.ts";
import { transaction } from "../../db/transaction.ts";
import {
  EMBED_ATTEMPTS,
  EMBED_RETRY_BASE_MS,
  EMBED_RETRY_MAX_MS,
  EMBED_TIMEOUT_MS,
} from "../../domain/limits.ts";
import { base64Of } from "../../domain/vector.ts";
import { EmbedderAway, type ProjectEmbedder } from "../../embed/embedders/project-embedders.ts";
import {
  EMBED_BATCH_INPUTS,
  type InTurn,
  type Outcome,
} from "../../embed/embedders/text-batches.ts";
import { lockRequest, withdrawRebuild } from "./rebuild-requests.ts";
import { type ChunkText, cutVersions, type TextChunk, textChunk } from "./store.ts";

/** Files that are cut in one transaction. */
const CUT_FILES = 100;
/** No file version has this id, which is before all others. */
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

interface RebuildListener {
  /** Chunks of the project, and those that an interrupted rebuild has embedded already. */
  onStart(total: number, done: number): void;
  onEmbedded(chunks: number): void;
  /** A text at which the embedder fails stays without an embedding. */
  onRefused(path: string, reason: string): void;
  /** The embedder is away, and is asked again. */
  onAway(message: string): void;
}

interface Place extends ChunkText {
  readonly version: string;
  readonly index: number;
}

/** Another embedder has been requested meanwhile, or the request has been withdrawn. */
export class RebuildWithdrawn extends Error {}

/**
 * Embeds all chunks of a project again, by a requested embedder, which becomes that of the project. The new embeddings
 * are kept aside until all of them are stored. They replace the old ones in one transaction, so searches go on as before
 * until then. An interrupted rebuild continues from its last stored embeddings. Throws EmbedderAway when the embedder
 * stays away, and RebuildWithdrawn.
 *
 * @param inTurn sends each request to the embedder, at once by default
 */
export async function rebuildEmbeddings(
  sql: Sql,
  project: string,
  embedder: ProjectEmbedder,
  listener: RebuildListener,
  inTurn?: InTurn,
): Promise<void> {
  await cutAll(sql, project);
  const { fingerprint } = embedder;
  await transaction(sql, async (tx) => {
    // The request may have been replaced meanwhile: the embeddings of another one stay.
    await requireRequest(tx, { project, fingerprint });
    await tx`
      DELETE FROM embedding_rebuilds WHERE project_id = ${project} AND embedder <> ${fingerprint}`;
  });
  const [counts] = await sql<{ total: number; done: number }[]>`
    SELECT (SELECT count(*) FROM chunks WHERE project_id = ${project})::integer AS total,
      (SELECT count(*) FROM embedding_rebuilds WHERE project_id = ${project})::integer AS done`;
  listener.onStart(counts?.total ?? 0, counts?.done ?? 0);
  let after: Place | undefined;
  for (;;) {
    const places = await nextPlaces(sql, project, after);
    after = places.at(-1);
    if (after === undefined) break;
    const outcomes = await embedPatiently(embedder, places.map(textChunk), listener, inTurn);
    await stage(sql, { project, fingerprint }, places, outcomes, listener);
    listener.onEmbedded(places.length);
  }
  await replace(sql, project, fingerprint);
}

/** Cuts the texts that have no chunks. In a project with an embedder, they wait for it. */
async function cutAll(sql: Sql, project: string): Promise<void> {
  // A text of frontmatter only gets no chunks, so it would be found again without `after`.
  let after = FIRST_ID;
  for (;;) {
    const rows = await sql<{ id: string }[]>`
      SELECT id FROM file_versions WHERE project_id = ${project} AND chunk_count = 0
        AND has_text(content) AND id > ${after} ORDER BY id LIMIT ${CUT_FILES}`;
    const versions = rows.map(({ id }) => id);
    const last = versions.at(-1);
    if (last === undefined) return;
    after = last;
    await transaction(sql, async (tx) => {
      await holdProject(tx, project);
      await cutVersions(tx, versions);
      await tx`
        INSERT INTO embedding_queue (file_version_id, project_id)
        SELECT id, ${project} FROM unnest(${versions}::uuid[]) AS id ON CONFLICT DO NOTHING`;
    });
  }
}

/** The next chunks in the order of their listing that are not embedded again yet. */
async function nextPlaces(sql: Sql, project: string, after: Place | undefined): Promise<Place[]> {
  const position =
    after === undefined
      ? sql``
      : sql`AND (c.file_path, c.file_version_id, c.index) >
          (${after.path}, ${after.version}::uuid, ${after.index}::integer)`;
  return await sql<Place[]>`
    SELECT c.id, c.content, c.file_path AS path, v.title, c.metadata::text AS metadata,
      c.file_version_id AS version, c.index
    FROM chunks c JOIN file_versions v ON v.id = c.file_version_id
    WHERE c.project_id = ${project} ${position}
      AND NOT EXISTS (SELECT FROM embedding_rebuilds r WHERE r.chunk_id = c.id)
    ORDER BY c.file_path, c.file_version_id, c.index LIMIT ${EMBED_BATCH_INPUTS}`;
}

/** The author of the request for a rebuild. Throws RebuildWithdrawn. */
async function requireRequest(tx: Transaction, { project, fingerprint }: Rebuild): Promise<Actor> {
  await holdProject(tx, project);
  const actor = await lockRequest(tx, project, fingerprint);
  if (actor === undefined) throw new RebuildWithdrawn("another rebuild has been requested");
  return actor;
}

interface Rebuild {
  readonly project: string;
  readonly fingerprint: string;
}

async function stage(
  sql: Sql,
  rebuild: Rebuild,
  places: readonly Place[],
  outcomes: readonly Outcome[],
  listener: RebuildListener,
): Promise<void> {
  const { project, fingerprint } = rebuild;
  const vectors = new Map<string, Float32Array>();
  for (const [i, outcome] of outcomes.entries()) {
    const { id, path } = places[i] as Place;
    if ("reason" in outcome) listener.onRefused(path, outcome.reason);
    else vectors.set(id, outcome.vector);
  }
  await transaction(sql, async (tx) => {
    await requireRequest(tx, rebuild);
    await tx`
      INSERT INTO embedding_rebuilds (chunk_id, project_id, embedder, embedding)
      SELECT c.id, ${project}, ${fingerprint}, decode(u.embedding, 'base64')
      FROM unnest(${[...vectors.keys()]}::uuid[], ${[...vectors.values()].map(base64Of)}::text[])
        AS u (id, embedding)
      JOIN chunks c ON c.id = u.id ON CONFLICT DO NOTHING`;
  });
}

async function embedPatiently(
  embedder: ProjectEmbedder,
  chunks: readonly TextChunk[],
  { onAway }: RebuildListener,
  inTurn: InTurn | undefined,
): Promise<Outcome[]> {
  const passages = chunks.map(({ passage }) => passage);
  const embed = () => embedder.embedPassages(passages, EMBED_TIMEOUT_MS, undefined, inTurn);
  return await pRetry(embed, {
    retries: EMBED_ATTEMPTS - 1,
    minTimeout: EMBED_RETRY_BASE_MS,
    maxTimeout: EMBED_RETRY_MAX_MS,
    async shouldRetry({ error }) {
      if (!(error instanceof EmbedderAway)) return false;
      onAway(error.message);
      await Bun.sleep(Math.min(error.retryAfterMs ?? 0, EMBED_RETRY_MAX_MS));
      return true;
    },
  });
}

/** Replaces all embeddings. Chunks that were stored meanwhile wait to be embedded. */
async function replace(sql: Sql, project: string, fingerprint: string): Promise<void> {
  await transaction(sql, async (tx) => {
    await tx`SELECT 1 FROM projects WHERE id = ${project} FOR UPDATE`;
    await actAs(tx, await requireRequest(tx, { project, fingerprint }));
    // The trigger that guards the embedder of a project lets this transaction pass.
    await tx`SELECT set_config('tessera.rebuilds_embeddings', ${project}, true)`;
    const added = await tx<StoredRow[]>`
      WITH replaced AS (
        UPDATE chunks c SET embedding = r.embedding, embedder = r.embedder,
          dimension = octet_length(r.embedding) / 4
        FROM embedding_rebuilds r JOIN chunks old ON old.id = r.chunk_id
        WHERE r.chunk_id = c.id AND r.project_id = ${project} AND r.embedder = ${fingerprint}
        RETURNING c.stored_bytes - old.stored_bytes AS bytes)
      SELECT coalesce(sum(bytes), 0)::float8 AS stored_bytes FROM replaced`;
    const removed = await tx<StoredRow[]>`
      WITH removed AS (
        UPDATE chunks c SET embedding = NULL, embedder = NULL, dimension = NULL
        FROM chunks old
        WHERE c.project_id = ${project} AND c.embedding IS NOT NULL
          AND c.embedder IS DISTINCT FROM ${fingerprint} AND old.id = c.id
        RETURNING c.stored_bytes - old.stored_bytes AS bytes)
      SELECT coalesce(sum(bytes), 0)::float8 AS stored_bytes FROM removed`;
    await count(tx, project, { bytes: bytesOf([...added, ...removed]) });
    await tx`
      UPDATE file_versions SET given_embeddings = NULL
      WHERE project_id = ${project} AND given_embeddings IS NOT NULL`;
    await tx`DELETE FROM embedding_rebuilds WHERE project_id = ${project}`;
    await tx`
      UPDATE projects SET embedder = ${fingerprint}, updated_at = now() WHERE id = ${project}`;
    await tx`DELETE FROM embedding_failures WHERE project_id = ${project}`;
    await tx`DELETE FROM embedding_queue WHERE project_id = ${project}`;
    await tx`
      INSERT INTO embedding_queue (file_version_id, project_id)
      SELECT DISTINCT file_version_id, project_id FROM chunks
      WHERE project_id = ${project} AND embedding IS NULL`;
    await withdrawRebuild(tx, project);
    await noteChange(tx, "embeddings.rebuilt", project, { embedder: fingerprint });
    // Every index of the project is read again.
    await tx`SELECT append_change(${project}, 'rebuild', ${project})`;
  });
}
