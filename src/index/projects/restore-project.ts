import type { ScopeRef } from "../../domain/scope.ts";
import type { ChangeLog } from "../changes/change-log.ts";
import { type Manifest, OtherVersion } from "../snapshots/manifest.ts";
import { VersionTable } from "../versions/version-table.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** How a project is brought up to date after its snapshot was read. */
export interface Restored {
  /** The versions of the project; empty if its indexes have not been restored. */
  readonly table: VersionTable;
  /** Scopes to index; null for every scope of the project. */
  readonly scopes: ScopeRef[] | null;
  /** File versions that have got embeddings since. */
  readonly embedded: readonly string[];
}

/** Changes since a snapshot. */
type Changes = Omit<Restored, "table">;

/** A usable snapshot, and the changes since. */
interface Usable {
  readonly manifest: Manifest;
  /** Null when the log no longer has these changes. */
  readonly since: Changes | null;
}

const ALL: Changes = { scopes: null, embedded: [] };

/** Reads the snapshot of a project into its indexes, unless it is missing or cannot be used. */
export async function restoreProject(id: string, context: IndexingContext): Promise<Restored> {
  const usable = await usableSnapshot(id, context);
  const table = usable === null ? null : await restoreIndexes(id, context, usable.manifest);
  if (table === null) return { table: new VersionTable(), ...ALL };
  return { table, ...(usable?.since ?? ALL) };
}

/** Looks at the snapshot of a project, and discards it if it cannot be used. */
async function usableSnapshot(id: string, context: IndexingContext): Promise<Usable | null> {
  const { changes, snapshots, databaseId, log } = context;
  const manifest = readManifest(id, context);
  if (manifest === null) {
    snapshots.discard(id);
    return null;
  }
  const isSameDatabase = manifest.databaseId === databaseId;
  const anchor = isSameDatabase ? await changes.checkAnchor(manifest.anchor) : "mismatch";
  const since =
    anchor === "valid"
      ? await changedSince(id, changes, manifest.seq)
      : // The log no longer tells which of its versions have received embeddings.
        anchor === "pruned" && (await changes.hasEmbedder(id))
        ? "rebuild"
        : null;
  if (anchor === "mismatch" || since === "rebuild") {
    const reason = anchor === "mismatch" ? "of another database" : "older than a rebuild";
    log.info({ project: id }, `an index snapshot is ${reason} and is not used`);
    snapshots.discard(id);
    return null;
  }
  return { manifest, since };
}

function readManifest(id: string, { snapshots, log }: IndexingContext): Manifest | null {
  try {
    return snapshots.read(id);
  } catch (error) {
    reportUnusable(log, { project: id }, error);
    return null;
  }
}

/** Restores the project in every index, or in none. Null if that is not possible. */
async function restoreIndexes(
  id: string,
  { indexes, snapshots, log }: IndexingContext,
  { parts }: Manifest,
): Promise<VersionTable | null> {
  const table = new VersionTable();
  for (const index of indexes) {
    const own = parts[index.name];
    // An engine without vectors has not saved any.
    const restoring = own && index.restore(id, table, snapshots.reader(id, own)).then(() => true);
    const isRestored = await restoring?.catch((error: unknown) => {
      reportUnusable(log, { project: id, index: index.name }, error);
      snapshots.discard(id);
      return false;
    });
    if (isRestored) continue;
    for (const each of indexes) each.dropProject(id);
    return null;
  }
  return table;
}

function reportUnusable(log: IndexingContext["log"], fields: object, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  // Every upgrade that changes a format meets snapshots of another version.
  if (error instanceof OtherVersion) {
    log.info({ ...fields, reason }, "an index snapshot is of another version and is rebuilt");
  } else {
    log.warn({ ...fields, reason }, "an index snapshot is damaged and is rebuilt");
  }
}

/** The changes after `seq`, or `rebuild` if a rebuild of the index was requested. */
async function changedSince(
  id: string,
  changes: ChangeLog,
  seq: number,
): Promise<Changes | "rebuild"> {
  const scopes = new Map<string, ScopeRef>();
  const embedded = new Set<string>();
  let reached = seq;
  for (;;) {
    const entries = await changes.after(reached, id);
    for (const { kind, ref } of entries) {
      if (kind === "rebuild") return "rebuild";
      if (kind === "embedded") embedded.add(ref);
      else if (kind !== "project") scopes.set(ref, { id: ref, kind });
    }
    const last = entries.at(-1);
    if (last === undefined) break;
    reached = last.seq;
  }
  if (embedded.size > 0) {
    for (const scope of await changes.scopesHolding(id, [...embedded])) scopes.set(scope.id, scope);
  }
  return { scopes: [...scopes.values()], embedded: [...embedded] };
}
