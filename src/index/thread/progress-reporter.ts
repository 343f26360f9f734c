/** Reports the progress of the indexes, once for all changes of a task of the event loop. */
export class ProgressReporter {
  readonly #changed = new Set<string>();
  #isDue = false;

  /** @param report gets the projects for which searches may see another last change */
  constructor(private readonly report: (projects: readonly string[]) => void) {}

  /** Reports soon, with this project if one is named. */
  changed(projectId?: string): void {
    if (projectId !== undefined) this.#changed.add(projectId);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const projects = [...this.#changed];
      this.#changed.clear();
      this.report(projects);
    });
  }
}
