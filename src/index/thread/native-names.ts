/**
 * Names of projects in the native registry, which belongs to the process: several services in one
 * process, as in tests, each have an index of the same project.
 *
 * Every load of a project has a name of its own. So a search that was waiting for a worker when its project was
 * unloaded never finds the next load of the project, which may lack the latest changes. Snapshots belong to the part of
 * the name before the `#`.
 */
export class NativeNames {
  readonly #current = new Map<string, string>();
  readonly #suffix: string;
  #loads = 0;

  constructor(private readonly instance: number) {
    // A restarted thread begins to count again.
    this.#suffix = `#${instance}.${crypto.randomUUID()}`;
  }

  /** The name of a project that is loaded or will be loaded now. */
  of(projectId: string): string {
    const known = this.#current.get(projectId);
    if (known !== undefined) return known;
    const name = `${projectId}${this.#suffix}.${++this.#loads}`;
    this.#current.set(projectId, name);
    return name;
  }

  /** Forgets the name of a project that is dropped. */
  drop(projectId: string): void {
    this.#current.delete(projectId);
  }

  /** True for the names of this service, also from before the thread was restarted. */
  isOwn(name: string): boolean {
    return name.split("#")[1]?.startsWith(`${this.instance}.`) === true;
  }
}
