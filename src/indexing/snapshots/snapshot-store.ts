import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryLockFile, unlockFile } from "../../../native/index.ts";
import { DISK_FORMATS } from "../../shared/disk-formats.ts";
import { isUuid } from "../../shared/formats.ts";
import { INDEX_SLOTS_MAX } from "../../shared/limits.ts";
import type { Anchor } from "../changes/change-log.ts";
import { writeDurably } from "./write-durably.ts";

const FORMAT = DISK_FORMATS.projectManifest;
const MANIFEST = "manifest.json";

/** Says what the index snapshots beside it were made from. */
export interface Manifest {
  readonly databaseId: string;
  /** A place in the log that proves that it is the log which the snapshot was made from. */
  readonly anchor: Anchor;
  /** Changes up to this one are in the snapshot. */
  readonly seq: number;
}

interface ManifestFile {
  format: number;
  crc: number;
  manifest: Manifest;
}

const crcOf = (manifest: Manifest) => Bun.hash.crc32(JSON.stringify(manifest));

/** A folder for snapshots that belongs to this process for as long as it lives. */
export interface Slot {
  readonly root: string;
  release(): void;
}

/** Claims the first free slot, so that processes that share a DATA_DIR never share snapshots. */
export function claimSlot(dataDir: string): Slot {
  const parent = join(dataDir, "index");
  mkdirSync(parent, { recursive: true });
  for (let slot = 0; slot < INDEX_SLOTS_MAX; slot++) {
    const lock = tryLockFile(join(parent, `slot-${slot}.lock`));
    if (lock === null) continue;
    const root = join(parent, `slot-${slot}`);
    mkdirSync(root, { recursive: true });
    return { root, release: () => unlockFile(lock) };
  }
  throw new Error(`${INDEX_SLOTS_MAX} processes use ${dataDir} already`);
}

/**
 * The snapshots of one process: `<DATA_DIR>/index/slot-<n>/<project>/<index>/`, and beside the
 * indexes' folders a manifest, written last.
 */
export class SnapshotStore {
  /** @param root the folder of a claimed slot */
  constructor(private readonly root: string) {}

  /** Projects that have a snapshot, whole or not. */
  projects(): string[] {
    return readdirSync(this.root).filter(isUuid);
  }

  /** Where an index keeps the snapshot of a project. */
  directory(projectId: string, indexName: string): string {
    return join(this.root, projectId, indexName);
  }

  /** The manifest of a project; null when there is none, or none that can be believed. */
  read(projectId: string): Manifest | null {
    const path = join(this.root, projectId, MANIFEST);
    if (!existsSync(path)) return null;
    try {
      const file = JSON.parse(readFileSync(path, "utf8")) as ManifestFile;
      return file.format === FORMAT && file.crc === crcOf(file.manifest) ? file.manifest : null;
    } catch {
      return null;
    }
  }

  /** Prepares the folder of a project for the indexes' own snapshots. */
  prepare(projectId: string): void {
    mkdirSync(join(this.root, projectId), { recursive: true });
  }

  /** Makes what the indexes have written before the snapshot of the project. */
  async write(projectId: string, manifest: Manifest): Promise<void> {
    const file: ManifestFile = { format: FORMAT, crc: crcOf(manifest), manifest };
    await writeDurably(join(this.root, projectId, MANIFEST), Buffer.from(JSON.stringify(file)));
  }

  discard(projectId: string): void {
    // The manifest goes first: what a crash leaves of the rest is then not a snapshot.
    rmSync(join(this.root, projectId, MANIFEST), { force: true });
    rmSync(join(this.root, projectId), { recursive: true, force: true });
  }
}
