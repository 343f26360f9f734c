import type { ScopeRef } from "../../engine/requests/scope.ts";
import { otherFormatIn } from "../../shared/disk-formats.ts";
import type { ChangeLog } from "../changes/change-log.ts";
import type { Manifest } from "../snapshots/snapshot-store.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** How a project is brought up to date after its snapshot was read. */
export interface Restored {
  /** Scopes to index; null for every scope of the project. */
  readonly scopes: ScopeRef[] | null;
  /** File versions that have got embeddings since. */
  readonly embedded: readonly string[];
}

/** A usable snapshot, and the changes since. */
interface Usable {
  readonly manifest: Manifest;
  /** Null when the log no longer has these changes. */
  readonly since: Restored | null;
}

const NOTHING: Restored = { scopes: null, embedded: [] };

/** Reads the snapshot of a project into its indexes, unless it is missing or cannot be used. */
export async function restoreProject(id: string, context: IndexingContext): Promise<Restored> {
  const usable = await usableSnapshot(id, context);
  if (usable === null) return NOTHING;
  const { manifest, since } = usable;
  const complete = await restoreIndexes(id, context, manifest.seq);
  return complete && since !== null ? since : { scopes: null, embedded: since?.embedded ?? [] };
}

/** Looks at the snapshot of a project, and discards it if it cannot be used. */
async function usableSnapshot(id: string, context: IndexingContext): Promise<Usable | null> {
  const { changes, snapshots, databaseId, log } = context;
  const manifest = snapshots.read(id);
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

/** True when every index has restored the project. */
async function restoreIndexes(id: string, context: IndexingContext, seq: number): Promise<boolean> {
  const { indexes, snapshots, log } = context;
  let complete = true;
  for (const index of indexes) {
    try {
      const directory = snapshots.directory(id, index.name);
      if (!(await index.restore(id, directory, seq))) complete = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const fields = { project: id, index: index.name };
      const otherVersion = otherFormatIn(reason);
      if (otherVersion === undefined) {
        log.warn({ ...fields, reason }, "an index snapshot is damaged and is rebuilt");
      } else {
        // Every upgrade that changes a format meets such snapshots.
        log.info(
          { ...fields, reason: otherVersion },
          "an index snapshot is of another version and is rebuilt",
        );
      }
      snapshots.discard(id);
      complete = false;
    }
  }
  return complete;
}

/** The changes after `seq`, or `rebuild` if a rebuild of the index was requested. */
async function changedSince(
  id: string,
  changes: ChangeLog,
  seq: number,
): Promise<Restored | "rebuild"> {
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
