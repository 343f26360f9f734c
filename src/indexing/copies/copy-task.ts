import { rmSync } from "node:fs";
import type { SnapshotCopies } from "../../config/snapshots.ts";
import type { ThreadProtocol } from "../../threads/protocol.ts";
import { BucketObjects } from "./bucket-objects.ts";
import { CopyFailure, codeOf } from "./copy-failure.ts";
import { FolderObjects } from "./folder-objects.ts";
import type { Objects } from "./objects.ts";
import {
  type CopyDescription,
  type CopyPosition,
  describeCopy,
  fetchCopy,
  folderOf,
} from "./project-copy.ts";
import { KnownFiles, publishCopy } from "./publish-copy.ts";

interface OfProject {
  readonly databaseId: string;
  readonly projectId: string;
}

export type CopyTask =
  | ({ readonly type: "describe" | "remove" } & OfProject)
  | ({ readonly type: "fetch"; readonly directory: string } & OfProject)
  | ({
      readonly type: "publish";
      readonly directory: string;
      readonly position: CopyPosition;
    } & OfProject)
  /** Asks for the projects that have a copy. */
  | { readonly type: "projects"; readonly databaseId: string };

/** What became of a task. */
export interface CopyResult {
  readonly failure?: { readonly kind: CopyFailure["kind"]; readonly reason: string };
  /** Bytes that were transferred, also by a task that failed. */
  readonly bytes: number;
  readonly seconds: number;
  /** Of `describe`; absent without a copy that this version can use. */
  readonly copy?: CopyDescription;
  /** Of `fetch`: false without such a copy. */
  readonly found?: boolean;
  readonly projects?: readonly string[];
}

export interface CopyProtocol extends ThreadProtocol {
  readonly options: { readonly copies: SnapshotCopies; readonly niceness: number };
  readonly task: CopyTask;
  readonly result: CopyResult;
}

type Answer = Omit<CopyResult, "bytes" | "seconds" | "failure">;

/** Runs tasks on this thread; they never reject. */
export class CopyWork {
  readonly #objects: Objects;
  readonly #known = new KnownFiles();

  constructor(copies: SnapshotCopies) {
    this.#objects =
      "folder" in copies ? new FolderObjects(copies.folder) : new BucketObjects(copies);
  }

  async run(task: CopyTask): Promise<CopyResult> {
    const startedAt = performance.now();
    const moved = { bytes: 0 };
    const cost = () => ({ ...moved, seconds: (performance.now() - startedAt) / 1_000 });
    try {
      const answer = await this.#run(task, moved);
      return { ...answer, ...cost() };
    } catch (error) {
      const isKnown = error instanceof CopyFailure;
      const reason = isKnown ? error.message : `the copy fails with ${codeOf(error)}`;
      return { failure: { kind: isKnown ? error.kind : "unavailable", reason }, ...cost() };
    }
  }

  async #run(task: CopyTask, moved: { bytes: number }): Promise<Answer> {
    const objects = this.#objects;
    if (task.type === "projects") return { projects: await objects.folders(task.databaseId) };
    const where = { objects, databaseId: task.databaseId, projectId: task.projectId };
    if (task.type === "publish") {
      await publishCopy(where, task.directory, task.position, this.#known, moved);
      return {};
    }
    if (task.type === "fetch") return { found: await fetchInto(where, task.directory, moved) };
    if (task.type === "remove") {
      this.#known.forget(task.projectId);
      await objects.deleteFolder(folderOf(where));
      return {};
    }
    const copy = await describeCopy(where);
    return copy === null ? {} : { copy };
  }
}

/**
 * Fetches into a directory, which is deleted again unless the whole copy is in it. A damaged copy is deleted,
 * because the next upload would rely on pieces of it.
 */
async function fetchInto(
  where: Parameters<typeof fetchCopy>[0],
  directory: string,
  moved: { bytes: number },
): Promise<boolean> {
  let complete = false;
  try {
    complete = await fetchCopy(where, directory, moved);
  } catch (error) {
    const isDamaged = error instanceof CopyFailure && error.kind === "damaged";
    if (isDamaged) await where.objects.deleteFolder(folderOf(where));
    throw error;
  } finally {
    if (!complete) rmSync(directory, { recursive: true, force: true });
  }
  return complete;
}
