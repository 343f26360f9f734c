/** The content of a scope: the number of the file at each path. */
export type Contents = ReadonlyMap<string, number>;

/**
 * The contents of an environment or a release over time. An answer may lag behind, but must be that
 * of one commit, and a process never goes back.
 */
export class Scope {
  #states: Contents[] = [new Map()];
  /** By process, the position of the oldest contents that it may have shown last. */
  readonly #seen = new Map<string, number>();
  #isKnown = false;

  get current(): Contents {
    return this.#states.at(-1) as Contents;
  }

  /** True once an answer has shown current contents. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Adds the contents that a change leads to, before the change begins. */
  change(contents: Contents): void {
    this.#states.push(contents);
  }

  /**
   * Compares an answer of a process, which is undefined if it may be one of two. Returns true when the
   * answer may show the current contents, and throws when it shows none that the scope has had since
   * what the process has shown before. An answer can be that of several contents, as when it has few
   * hits, and then shows the oldest of them.
   */
  shows(
    process: string | undefined,
    agrees: (contents: Contents) => boolean,
    describe: () => string,
  ): boolean {
    const from = process === undefined ? 0 : (this.#seen.get(process) ?? 0);
    const shown = this.#states.findIndex((contents, at) => at >= from && agrees(contents));
    if (shown < 0) throw new Error(`${describe()}\nnever was the answer: ${this.#list(from)}`);
    if (process !== undefined) this.#seen.set(process, shown);
    const isCurrent = agrees(this.current);
    this.#isKnown ||= isCurrent;
    return isCurrent;
  }

  #list(from: number): string {
    return this.#states
      .map((state, at) => `${at}${at < from ? " (past)" : ""}: ${text(state)}`)
      .join("\n");
  }
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
