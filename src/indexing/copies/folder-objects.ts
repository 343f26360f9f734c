import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { PRIVATE_DIRECTORY, UNFINISHED, writeDurablySync } from "../../shared/durable-files.ts";
import { CopyFailure, codeOf } from "./copy-failure.ts";
import type { Objects } from "./objects.ts";

/** How long a file is kept that a crash left behind while it was written. */
const UNFINISHED_KEEP_MS = 24 * 3_600_000;

const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

/**
 * Objects in a folder that nodes share. The calls block: a network file system that hangs then holds only the
 * thread that copies, and none of the threads that the rest of the process reads files with.
 */
export class FolderObjects implements Objects {
  constructor(private readonly root: string) {}

  put(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#attempt(() => {
      const path = join(this.root, name);
      mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
      // Several nodes may write the same object.
      const temporary = `${path}.${crypto.randomUUID()}${UNFINISHED}`;
      writeDurablySync(path, bytes, { temporary });
    });
  }

  get(name: string, maxBytes: number): Promise<Buffer | null> {
    return this.#attempt(() => {
      const path = join(this.root, name);
      try {
        if (statSync(path).size <= maxBytes) return readFileSync(path);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
      throw new CopyFailure("damaged", "an object is longer than expected");
    });
  }

  list(folder: string): Promise<Map<string, number>> {
    return this.#attempt(() => {
      const sizes = new Map<string, number>();
      for (const entry of this.#entries(folder)) {
        if (!entry.isFile()) continue;
        const path = join(this.root, folder, entry.name);
        const { size, mtimeMs } = statSync(path);
        if (!entry.name.endsWith(UNFINISHED)) sizes.set(entry.name, size);
        else if (mtimeMs < Date.now() - UNFINISHED_KEEP_MS) rmSync(path, { force: true });
      }
      return sizes;
    });
  }

  folders(folder: string): Promise<string[]> {
    return this.#attempt(() =>
      this.#entries(folder)
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name),
    );
  }

  delete(name: string): Promise<void> {
    return this.#attempt(() => rmSync(join(this.root, name), { force: true }));
  }

  deleteFolder(folder: string): Promise<void> {
    return this.#attempt(() => rmSync(join(this.root, folder), { recursive: true, force: true }));
  }

  #entries(folder: string) {
    try {
      return readdirSync(join(this.root, folder), { withFileTypes: true });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async #attempt<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      if (error instanceof CopyFailure) throw error;
      throw new CopyFailure("unavailable", `the shared folder fails with ${codeOf(error)}`);
    }
  }
}
