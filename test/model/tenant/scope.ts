/** The content of a scope: the number of the file at each path. */
export type Contents = ReadonlyMap<string, number>;

/**
 * The contents of an environment or a release over time. An answer may lag behind, but must be that
 * of one commit, and a process never goes back.
 */
export class Scope {
  #states: Contents[] = [new Map()];
  /** By process, the position of the newest contents that it has shown for sure. */
  readonly #seen = new Map<string, number>();

  get current(): Contents {
    return this.#states.at(-1) as Contents;
  }

  /** True once an answer has shown current contents. */
  get isKnown(): boolean {
    return this.#seen.size > 0;
  }

  /** Adds the contents that a change leads to, before the change begins. */
  change(contents: Contents): void {
    this.#states.push(contents);
  }

  /**
   * Compares an answer of a process. Returns true when it shows the current contents, and throws when
   * it shows none that the scope has had since what the process has shown before.
   */
  shows(process: string, agrees: (contents: Contents) => boolean, describe: () => string): boolean {
    if (agrees(this.current)) {
      this.#note(process);
      return true;
    }
    const from = this.#seen.get(process) ?? 0;
    const isFormer = this.#states.some((contents, at) => at >= from && agrees(contents));
    if (!isFormer) throw new Error(`${describe()}\nnever was the answer: ${this.#list(from)}`);
    return false;
  }

  #note(process: string): void {
    const latest = this.#states.length - 1;
    // Contents that returned to what they were before leave open which of them was shown.
    const first = this.#states.findIndex((contents) => isSame(contents, this.current));
    this.#seen.set(process, Math.min(first, latest));
  }

  #list(from: number): string {
    return this.#states
      .map((state, at) => `${at}${at < from ? " (past)" : ""}: ${text(state)}`)
      .join("\n");
  }
}

function isSame(a: Contents, b: Contents): boolean {
  return a.size === b.size && [...a].every(([path, number]) => b.get(path) === number);
}

function text(contents: Contents): string {
  return JSON.stringify(Object.fromEntries(contents));
}

/** An environment: its working set, unless it serves a release. */
export class Environment {
  working: Contents = new Map();
  #servesRelease = false;
  /** What searches see. */
  readonly scope = new Scope();

  /** Begins a change of the working set. */
  change(contents: Contents): void {
    this.working = contents;
    if (!this.#servesRelease) this.scope.change(contents);
  }

  /** Begins to serve a release with these contents; null for the working set again. */
  serve(contents: Contents | null): void {
    this.#servesRelease = contents !== null;
    this.scope.change(contents ?? this.working);
  }
}
