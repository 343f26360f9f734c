import type { Progress } from "../changes/applied-changes.ts";

interface Position {
  /** The last change that was handed to the projects. */
  reached(): number;
  ends(): number;
  /** The oldest change that searches of a project do not see; undefined when there is none. */
  oldestPending(projectId: string): number | undefined;
}

/** Tells the main thread how far the indexes have come, once for everything that happens in one go. */
export class ProgressReporter {
  readonly #changed = new Set<string>();
  #isDue = false;

  constructor(
    private readonly post: (progress: Progress) => void,
    private readonly position: Position,
  ) {}

  /** Reports soon, with the oldest waiting change of a project if one is named. */
  changed(projectId?: string): void {
    if (projectId !== undefined) this.#changed.add(projectId);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => this.#report());
  }

  #report(): void {
    this.#isDue = false;
    const pending = [...this.#changed].map((id) => [id, this.position.oldestPending(id)] as const);
    this.#changed.clear();
    const { position } = this;
    this.post({ type: "progress", reached: position.reached(), ends: position.ends(), pending });
  }
}
