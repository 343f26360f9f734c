import type { Actor } from "../../auth/audit/actor.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { CLAIM_SECONDS, whileClaimed } from "./claims.ts";

/** A project whose chunks are to be embedded again. */
export interface RequestedRebuild {
  readonly id: string;
  /** An owner, who shares the embedder with others. */
  readonly tenant: string;
}

/** Asks for a rebuild by an embedder. It replaces an earlier request for another embedder. */
export async function requestRebuild(
  tx: Transaction,
  projectId: string,
  fingerprint: string,
  actor: Actor,
): Promise<void> {
  await tx`
    INSERT INTO rebuild_requests AS r (project_id, embedder, actor)
    VALUES (${projectId}, ${fingerprint}, ${JSON.stringify(actor)}::text::jsonb)
    ON CONFLICT (project_id) DO UPDATE SET embedder = excluded.embedder, actor = excluded.actor, due = now()
    WHERE r.embedder <> excluded.embedder`;
}

/** Withdraws the request for a rebuild, if there is one, with the embeddings that it has made so far. */
export async function withdrawRebuild(tx: Transaction, projectId: string): Promise<void> {
  // In this order: without a request no further embeddings are kept.
  const { count } = await tx`DELETE FROM rebuild_requests WHERE project_id = ${projectId}`;
  if (count > 0) await tx`DELETE FROM embedding_rebuilds WHERE project_id = ${projectId}`;
}

/** Who has asked for a rebuild by this embedder; undefined if nobody does. The request stays until the transaction ends. */
export async function lockRequest(
  tx: Transaction,
  projectId: string,
  fingerprint: string,
): Promise<Actor | undefined> {
  const [row] = await tx<{ actor: Actor }[]>`
    SELECT actor FROM rebuild_requests
    WHERE project_id = ${projectId} AND embedder = ${fingerprint} FOR SHARE`;
  return row?.actor;
}

/** Claims a rebuild by this embedder, of one project or of any. */
async function claimRebuild(
  sql: Queryable,
  fingerprint: string,
  projectId: string | null,
): Promise<RequestedRebuild | undefined> {
  const [row] = await sql<RequestedRebuild[]>`
    WITH next AS (
      SELECT project_id FROM rebuild_requests
      WHERE embedder = ${fingerprint} AND due <= now()
        AND (${projectId}::uuid IS NULL OR project_id = ${projectId})
      ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE rebuild_requests r SET due = now() + make_interval(secs => ${CLAIM_SECONDS})
    FROM next n WHERE r.project_id = n.project_id
    RETURNING r.project_id AS id, coalesce((SELECT m.user_id FROM memberships m
      WHERE m.project_id = r.project_id ORDER BY m.role <> 'owner', m.created_at, m.user_id LIMIT 1),
      r.project_id) AS tenant`;
  return row;
}

/** Sets when a claimed rebuild can be claimed again. */
async function postpone(
  sql: Queryable,
  { id }: RequestedRebuild,
  fingerprint: string,
  seconds: number,
): Promise<void> {
  await sql`
    UPDATE rebuild_requests SET due = now() + make_interval(secs => ${seconds})
    WHERE project_id = ${id} AND embedder = ${fingerprint}`;
}

/** Claims a rebuild and runs work for it. Returns false without a rebuild that can be claimed. */
export async function withClaimedRebuild(
  sql: Sql,
  fingerprint: string,
  work: (rebuild: RequestedRebuild) => Promise<void>,
  projectId: string | null = null,
): Promise<boolean> {
  const rebuild = await claimRebuild(sql, fingerprint, projectId);
  if (rebuild === undefined) return false;
  const extend = () => postpone(sql, rebuild, fingerprint, CLAIM_SECONDS);
  try {
    await whileClaimed(extend, () => work(rebuild));
    return true;
  } finally {
    // A finished one has no request any longer.
    await postpone(sql, rebuild, fingerprint, 0).catch(() => {});
  }
}

/** Files with chunks that a requested rebuild has not embedded yet, and at least 1 until it ends; 0 without one. */
export async function countRebuilding(sql: Queryable, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT greatest(1, (
      SELECT count(DISTINCT c.file_version_id) FROM chunks c WHERE c.project_id = r.project_id
        AND NOT EXISTS (SELECT FROM embedding_rebuilds e WHERE e.chunk_id = c.id)))::integer AS count
    FROM rebuild_requests r WHERE r.project_id = ${projectId}`;
  return row?.count ?? 0;
}
