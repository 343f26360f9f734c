import type { Queryable } from "../db/client.ts";

/**
 * The releases of a project by file version. A release is stored as its difference from another one (see the table
 * `release_contents`), so the memory for them grows with the changes and not with the files of all releases.
 */
export class ReleaseNames {
  /** The ids of contents that list a version, by the version's id. */
  readonly #naming = new Map<string, string[]>();
  /** The names of releases whose chain of contents includes these, by their id. */
  readonly #reached = new Map<string, string[]>();

  static async read(sql: Queryable, project: string): Promise<ReleaseNames> {
    const names = new ReleaseNames();
    const links = await sql<{ name: string; id: string }[]>`
      WITH RECURSIVE chain AS (
        SELECT r.name, c.id, c.base_id FROM releases r JOIN release_contents c ON c.id = r.contents_id
        WHERE r.project_id = ${project}
        UNION ALL
        SELECT chain.name, c.id, c.base_id FROM chain JOIN release_contents c ON c.id = chain.base_id
      ) SELECT name, id FROM chain`;
    for (const { name, id } of links) push(names.#reached, id, name);
    for (const id of names.#reached.keys()) {
      const [row] = await sql<{ versions: string }[]>`
        SELECT array_to_string(versions, ' ') AS versions FROM release_contents WHERE id = ${id}`;
      for (const version of row?.versions.match(/\S+/g) ?? []) push(names.#naming, version, id);
    }
    return names;
  }

  /** A release holds the version if an odd number of contents in its chain list it. */
  of(version: string): string[] {
    const held = new Set<string>();
    for (const id of this.#naming.get(version) ?? []) {
      for (const name of this.#reached.get(id) ?? []) {
        if (!held.delete(name)) held.add(name);
      }
    }
    return [...held];
  }
}

function push(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
