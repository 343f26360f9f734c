import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { DISK_FORMATS } from "../../domain/disk-formats.ts";
import { isUuid } from "../../domain/formats.ts";
import type { Position } from "../../domain/position.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../../ops/durable-files.ts";

const FORMAT = DISK_FORMATS.projectManifest;
const MANIFEST = "manifest.json";
/** The errors of a folder that cannot be changed. */
const UNCHANGEABLE: ReadonlySet<string> = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EIO"]);

/** Describes the state of the database that a project's index snapshots were made from. */
export interface Manifest {
  readonly databaseId: string;
  /** A position that identifies the change log. */
  readonly anchor: Position;
  /** Changes up to this one are in the snapshot. */
  readonly seq: number;
}

interface ManifestFile {
  format: number;
  crc: number;
  manifest: Manifest;
}

const crcOf = (manifest: Manifest) => Bun.hash.crc32(JSON.stringify(manifest));

/**
 * The snapshots of one process: `<DATA_DIR>/index/slot-<n>/<project>/<index>/`, and next to the
 * indexes' directories a manifest, which is written last.
 */
export class SnapshotStore {
  /** @param root the path of an instance directory */
  constructor(private readonly root: string) {}

  /** One snapshot is written at a time, and none while `work` runs. */
  readonly exclusively = pLimit(1);

  /** Projects that have a snapshot, complete or not. */
  projects(): string[] {
    return readdirSync(this.root).filter(isUuid);
  }

  /** True when a project has a complete snapshot. */
  has(projectId: string): boolean {
    return existsSync(join(this.root, projectId, MANIFEST));
  }

  /** The directory of one index's snapshot of a project. */
  directory(projectId: string, indexName: string): string {
    return join(this.root, projectId, indexName);
  }

  /** The manifest of a project; null when it is missing, damaged or of another format. */
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

  /** Creates the directory of a project. */
  prepare(projectId: string): void {
    mkdirSync(join(this.root, projectId), { recursive: true, mode: PRIVATE_DIRECTORY });
  }

  /** Completes the snapshot of a project after its indexes have written theirs. */
  async commit(projectId: string, manifest: Manifest): Promise<void> {
    const file: ManifestFile = { format: FORMAT, crc: crcOf(manifest), manifest };
    await writeDurably(join(this.root, projectId, MANIFEST), Buffer.from(JSON.stringify(file)));
  }

  /** In a folder that cannot be changed it stays, and the next reader finds again that it is of no use. */
  discard(projectId: string): void {
    try {
      // The manifest is deleted first. Files that a crash leaves behind are then not a snapshot.
      rmSync(join(this.root, projectId, MANIFEST), { force: true });
      rmSync(join(this.root, projectId), { recursive: true, force: true });
    } catch (error) {
      if (!UNCHANGEABLE.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
}
