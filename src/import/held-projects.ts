import { holdProjects } from "../db/project-lock.ts";
import { ImportError, RecordError, TargetGone } from "./records/errors.ts";
import type { ImportTarget } from "./records/target.ts";
import type { ImportSession } from "./session.ts";

/**
 * Keeps the projects of an import from being deleted, transaction by transaction. Throws TargetGone if that is the
 * only project that the import may write to.
 */
export class HeldProjects {
  /** Ids of the projects that have been written to. */
  readonly #written = new Set<string>();

  constructor(
    private readonly session: ImportSession,
    private readonly target: ImportTarget | undefined,
  ) {}

  /** Holds the projects of a batch until its transaction ends. Throws a RecordError if one is gone. */
  async hold(projects: ReadonlySet<string>): Promise<void> {
    await this.#hold(projects, () => new RecordError("project: does not exist any more"));
    for (const id of projects) this.#written.add(id);
  }

  /** Runs a step that may write to any project of the import, in a transaction. Throws an ImportError if one is gone. */
  async lastStep<T>(work: () => Promise<T>): Promise<T> {
    const message = "a project of this import has been deleted meanwhile: run this import again";
    return await this.session.transaction(async () => {
      await this.#hold(this.#written, () => new ImportError(message));
      return await work();
    });
  }

  async #hold(projects: ReadonlySet<string>, gone: () => Error): Promise<void> {
    const ids = this.target === undefined ? [...projects] : [this.target.id];
    if (ids.length === 0 || (await holdProjects(this.session.sql, ids))) return;
    throw this.target === undefined ? gone() : new TargetGone("the project of the import is gone");
  }
}
