import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onCleanup } from "./cleanup.ts";

const PREFIX = "tessera-test-";

/**
 * Creates a folder that is removed at the end. Its name contains the process id, so that a later run
 * recognises the leftovers of a killed one. Other accounts may traverse it, because PostgreSQL runs
 * under another account when root starts it.
 */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${purpose}-`));
  chmodSync(folder, 0o711);
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Folders of processes that were killed before they could clean up. */
export function abandonedFolders(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => {
      const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : NaN;
      return !Number.isNaN(pid) && !isAlive(pid);
    })
    .map((name) => join(tmpdir(), name));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
