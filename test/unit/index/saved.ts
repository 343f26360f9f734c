import { SnapshotStore } from "../../../src/index/snapshots/snapshot-store.ts";
import type { VersionIndex } from "../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../src/index/versions/version-table.ts";

/** A state of a database. */
export const ORIGIN = { databaseId: "database", anchor: { seq: 41, at: "now" }, seq: 42 } as const;

/** Writes a snapshot of a project below a folder. */
export async function save(
  folder: string,
  projectId: string,
  ...indexes: readonly VersionIndex[]
): Promise<void> {
  await new SnapshotStore(folder).write(projectId, ORIGIN, indexes);
}

/** Restores a project in indexes, as from its snapshot below a folder. Returns the table. */
export async function restore(
  folder: string,
  projectId: string,
  indexes: readonly VersionIndex[],
  table = new VersionTable(),
): Promise<VersionTable> {
  const store = new SnapshotStore(folder);
  const manifest = store.read(projectId);
  if (manifest === null) throw new Error("the project has no snapshot");
  for (const index of indexes) {
    await index.restore(
      projectId,
      table,
      store.reader(projectId, manifest.parts[index.name] ?? []),
    );
  }
  return table;
}
