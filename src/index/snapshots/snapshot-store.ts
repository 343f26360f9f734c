import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { isUuid } from "../../domain/formats.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../../ops/durable-files.ts";
import { decodeManifest, encodeManifest, type Manifest, type Origin } from "./manifest.ts";
import { type Part, PartReader, PartWriter } from "./parts.ts";

const MANIFEST = "manifest.json";
/** The errors of a folder that cannot be changed. */
const UNCHANGEABLE: ReadonlySet<string> = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EIO"]);

const byName = (parts: Manifest["parts"]): ReadonlyMap<string, Part> =>
  new Map(Object.values(parts).flatMap((own) => own.map((part) => [part.name, part] as const)));

/** An index of which a snapshot has parts. */
interface SavedIndex {
  readonly name: string;
  snapshot(projectId: string, writer: PartWriter): Promise<readonly Part[]>;
}

/**
 * The snapshots of one process: for each project `<DATA_DIR>/index/slot-<n>/<project>/`, with a manifest, which is written
 * last, and the parts that it names.
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

  /** The manifest of a project; null without one. Throws if it is damaged, of another version or of another project. */
  read(projectId: string): Manifest | null {
    if (!this.has(projectId)) return null;
    return decodeManifest(projectId, readFileSync(join(this.root, projectId, MANIFEST), "utf8"));
  }

  /** Reads these parts of a project. */
  reader(projectId: string, parts: readonly Part[]): PartReader {
    return new PartReader(join(this.root, projectId), parts);
  }

  /** Writes a snapshot of a project. Until its manifest is written, and if anything fails, the earlier one remains. */
  async write(projectId: string, origin: Origin, indexes: readonly SavedIndex[]): Promise<void> {
    const directory = join(this.root, projectId);
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const writer = new PartWriter(directory, this.#partsOf(projectId));
    try {
      const parts: Record<string, readonly Part[]> = {};
      for (const index of indexes) parts[index.name] = await index.snapshot(projectId, writer);
      const manifest = encodeManifest(projectId, { ...origin, parts });
      await writeDurably(join(directory, MANIFEST), manifest);
    } finally {
      // Parts of a snapshot that failed would take the space of other files. The manifest may have replaced the earlier
      // one although its write has failed.
      const kept = this.#partsOf(projectId);
      for (const name of await readdir(directory)) {
        if (name !== MANIFEST && !kept.has(name)) {
          await rm(join(directory, name), { recursive: true, force: true });
        }
      }
    }
  }

  /** The parts of the snapshot; none if it cannot be used. */
  #partsOf(projectId: string): ReadonlyMap<string, Part> {
    try {
      return byName(this.read(projectId)?.parts ?? {});
    } catch {
      return new Map();
    }
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
