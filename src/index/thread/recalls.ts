import type { IndexRecall } from "./messages.ts";

function keyOf(projectId: string, dimension: number): string {
  return `${projectId} ${dimension}`;
}

/** The recall of recent live searches, by project and dimension. */
export class Recalls {
  readonly #recalls = new Map<string, IndexRecall>();

  note(recall: IndexRecall): void {
    this.#recalls.set(keyOf(recall.projectId, recall.dimension), recall);
  }

  of(projectId: string, dimension: number): Pick<IndexRecall, "recall" | "samples"> | undefined {
    return this.#recalls.get(keyOf(projectId, dimension));
  }

  /** Forgets the projects that are no longer in memory. */
  keep(projects: ReadonlySet<string>): void {
    for (const [key, { projectId }] of this.#recalls) {
      if (!projects.has(projectId)) this.#recalls.delete(key);
    }
  }
}
