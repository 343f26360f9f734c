import { NEW_VERSIONS_CHANNEL } from "../../../db/channels.ts";
import type { Queryable } from "../../../db/client.ts";

/** File versions per announcement, whose payload PostgreSQL limits to 8,000 bytes. */
const ANNOUNCED_VERSIONS_MAX = 200;

/** A file version that a batch has written completely, with its chunks. */
export interface NewVersion {
  readonly projectId: string;
  readonly id: string;
}

/**
 * Announces new file versions to running services when the transaction commits. They index the versions while the
 * import goes on, so that the scopes, which change last, are visible immediately. A lost announcement only costs that
 * time.
 */
export async function announceVersions(
  sql: Queryable,
  versions: readonly NewVersion[],
): Promise<void> {
  const payloads: string[] = [];
  for (const [projectId, own] of Map.groupBy(versions, (version) => version.projectId)) {
    for (let at = 0; at < own.length; at += ANNOUNCED_VERSIONS_MAX) {
      const ids = own.slice(at, at + ANNOUNCED_VERSIONS_MAX).map(({ id }) => id);
      payloads.push([projectId, ...ids].join(" "));
    }
  }
  if (payloads.length === 0) return;
  await sql`SELECT pg_notify(${NEW_VERSIONS_CHANNEL}, payload) FROM unnest(${payloads}::text[]) AS payload`;
}

/** Lets services load a project, so that they search it before its contents change. */
export async function announceProject(sql: Queryable, projectId: string): Promise<void> {
  await sql`SELECT pg_notify(${NEW_VERSIONS_CHANNEL}, ${projectId})`;
}
