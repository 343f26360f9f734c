import type { Queryable } from "../../db/client.ts";

/** A project as operators see it. */
export interface ListedProject {
  readonly slug: string;
  readonly id: string;
  readonly name: string;
  readonly owners: string[];
  readonly members: number;
  readonly files: number;
  readonly environments: number;
  readonly releases: number;
  readonly created_at: Date;
}

/** All projects in order of slug. */
export async function listAllProjects(sql: Queryable): Promise<ListedProject[]> {
  return await sql<ListedProject[]>`
    SELECT p.slug, p.id, p.name, p.created_at,
      ARRAY (SELECT coalesce(u.email, u.id::text) COLLATE "C" FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.project_id = p.id AND m.role = 'owner' ORDER BY 1) AS owners,
      (SELECT count(*) FROM memberships m WHERE m.project_id = p.id)::integer AS members,
      (SELECT count(*) FROM files f WHERE f.project_id = p.id)::integer AS files,
      (SELECT count(*) FROM environments e WHERE e.project_id = p.id)::integer AS environments,
      (SELECT count(*) FROM releases r WHERE r.project_id = p.id)::integer AS releases
    FROM projects p ORDER BY p.slug COLLATE "C"`;
}
