import type { ChangeLog, Scope } from "../changes/change-log.ts";
import type { Manifest, SnapshotStore } from "../snapshots/snapshot-store.ts";
import type { IndexingContext } from "./project-indexer.ts";

/** How a snapshot is to be brought up to date. */
export interface Restored {
  /** Scopes to read; null for every scope of the project. */
  readonly scopes: Scope[] | null;
}

/** Reads the snapshot of a project into its indexes, as far as there is one that can be trusted. */
export async function restoreProject(
  id: string,
  context: IndexingContext,
  snapshots: SnapshotStore,
  databaseId: string,
): Promise<Restored> {
  const manifest = snapshots.read(id);
  if (manifest === null) {
    snapshots.discard(id);
    return { scopes: null };
  }
  const worth =
    manifest.databaseId === databaseId ? await context.changes.judge(manifest.anchor) : "foreign";
  const since = worth === "kept" ? await scopesSince(id, context.changes, manifest) : null;
  if (worth === "foreign" || since === "rebuild") {
    const reason = worth === "foreign" ? "of another database" : "older than a rebuild";
    context.log.info({ project: id }, `an index snapshot is ${reason} and not used`);
    snapshots.discard(id);
    return { scopes: null };
  }
  return { scopes: (await restoreIndexes(id, context, snapshots)) ? since : null };
}

/** True when every index has restored the project. */
async function restoreIndexes(
  id: string,
  context: IndexingContext,
  snapshots: SnapshotStore,
): Promise<boolean> {
  let whole = true;
  for (const index of context.indexes) {
    const directory = snapshots.directory(id, index.name);
    try {
      if (!(await index.restore(id, directory))) whole = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const fields = { project: id, index: index.name, reason };
      context.log.warn(fields, "an index snapshot is damaged; it is made anew");
      snapshots.discard(id);
      whole = false;
    }
  }
  return whole;
}

/** The scopes that changed since a snapshot, or `rebuild` when its index was to be made anew. */
async function scopesSince(
  id: string,
  changes: ChangeLog,
  manifest: Manifest,
): Promise<Scope[] | "rebuild"> {
  const scopes = new Map<string, Scope>();
  let seq = manifest.seq;
  for (;;) {
    const entries = await changes.after(seq, id);
    for (const { kind, ref } of entries) {
      if (kind === "rebuild") return "rebuild";
      if (kind !== "project") scopes.set(ref, { id: ref, kind });
    }
    const last = entries.at(-1);
    if (last === undefined) return [...scopes.values()];
    seq = last.seq;
  }
}
