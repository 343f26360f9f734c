import type { Queryable } from "../db/client.ts";

/**
 * Which releases of a project hold a file version. What is stored of a release is its
 * difference from another (see the table `release_contents`), so the memory that this takes grows with the
 * changes and not with the files of all releases.
 */
export class ReleaseNames {
  /** The contents that name a version, by its id. */
  readonly #naming = new Map<string, string[]>();
  /** The releases whose contents are reached from these, by their id. */
  readonly #reached = new Map<string, string[]>();

  static async read(sql: Queryable, project: string): Promise<ReleaseNames> {
    const names = new ReleaseNames();
    const ways = await sql<{ name: string; id: string }[]>`
      WITH RECURSIVE way AS (
        SELECT r.name, c.id, c.base_id FROM releases r JOIN release_contents c ON c.id = r.contents_id
        WHERE r.project_id = ${project}
        UNION ALL
        SELECT way.name, c.id, c.base_id FROM way JOIN release_contents c ON c.id = way.base_id
      ) SELECT name, id FROM way`;
    for (const { name, id } of ways) push(names.#reached, id, name);
    for (const id of names.#reached.keys()) {
      const [row] = await sql<{ versions: string }[]>`
        SELECT array_to_string(versions, ' ') AS versions FROM release_contents WHERE id = ${id}`;
      for (const version of row?.versions.match(/\S+/g) ?? []) push(names.#naming, version, id);
    }
    return names;
  }

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
