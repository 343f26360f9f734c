/**
 * Whether a history of concurrent operations on one object could have happened one by one: Wing and Gong's search,
 * with a memory of what was tried before (Lowe's improvement).
 */

export interface Operation<State> {
  /** When it was called, and when it was answered; infinite for one that was never answered with certainty. */
  readonly called: number;
  readonly answered: number;
  /** An operation that took effect before this one, whatever their times are. */
  readonly after?: Operation<State>;
  /** Whether it changes nothing, as it was answered. */
  readonly isRead: boolean;
  /** Whether it is answered as it was in this state. */
  readonly explains: (state: State) => boolean;
  /** The state that it leaves, whatever its answer is. */
  readonly effect: (state: State) => State;
  /** For messages. */
  readonly text: string;
}

export interface Specification<State> {
  readonly initial: State;
  /** Equal for equal states. */
  readonly key: (state: State) => string;
}

/** A search that is longer has too many operations that may have had an effect. */
const STEPS_MAX = 3_000_000;

/** Thrown when it takes too long to find out. */
export class UndecidedError extends Error {}

/** Operations that are answered, and any others of those that are not, in some order that explains all answers. */
export function isLinearizable<State>(
  operations: readonly Operation<State>[],
  specification: Specification<State>,
): boolean {
  // Those that were answered first are tried first.
  const sorted = operations.toSorted((a, b) => a.answered - b.answered || a.called - b.called);
  return new Search(sorted, specification).run();
}

class Search<State> {
  /** A bit for each operation. */
  readonly #done: Buffer;
  readonly #places: ReadonlyMap<Operation<State>, number>;
  readonly #known = new Set<string>();
  #steps = 0;

  constructor(
    private readonly operations: readonly Operation<State>[],
    private readonly specification: Specification<State>,
  ) {
    this.#done = Buffer.alloc(Math.ceil(operations.length / 8));
    this.#places = new Map(operations.map((operation, at) => [operation, at]));
  }

  run(): boolean {
    return this.#from(this.specification.initial);
  }

  #from(state: State): boolean {
    const reads = this.#takeReads(state);
    if (this.#change(state)) return true;
    for (const at of reads) this.#flip(at);
    return false;
  }

  /** Reads that can come now may, because whatever follows is possible without them as well. */
  #takeReads(state: State): number[] {
    const taken: number[] = [];
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const at of this.#candidates()) {
        const operation = this.operations[at] as Operation<State>;
        if (!operation.isRead || !operation.explains(state)) continue;
        this.#flip(at);
        taken.push(at);
        isNew = true;
      }
    }
    return taken;
  }

  /** Tries every change that can come next. */
  #change(state: State): boolean {
    if (this.#firstAnswer() === Number.POSITIVE_INFINITY) return true;
    if (++this.#steps > STEPS_MAX) throw new UndecidedError("the history has too many orders");
    for (const at of this.#candidates()) {
      const next = this.#after(state, this.operations[at] as Operation<State>);
      if (next === undefined) continue;
      this.#flip(at);
      const key = this.specification.key(next) + this.#done.toString("latin1");
      const isNew = !this.#known.has(key);
      if (isNew) this.#known.add(key);
      if (isNew && this.#from(next)) return true;
      this.#flip(at);
    }
    return false;
  }

  /** What can come next: nothing that was called after an answer which is not explained yet. */
  #candidates(): number[] {
    const bound = this.#firstAnswer();
    const found: number[] = [];
    for (const [at, operation] of this.operations.entries()) {
      const isLater = this.#isDone(at) || operation.called > bound;
      if (!isLater && this.#isEnabled(operation)) found.push(at);
    }
    return found;
  }

  #isDone(at: number): boolean {
    return ((this.#done[at >> 3] as number) & (1 << (at & 7))) !== 0;
  }

  #flip(at: number): void {
    this.#done[at >> 3] = (this.#done[at >> 3] as number) ^ (1 << (at & 7));
  }

  /** Undefined for a read, for what is not answered so, and for what would be for nothing. */
  #after(state: State, operation: Operation<State>): State | undefined {
    const { answered, isRead, explains, effect } = operation;
    const isAnswered = answered < Number.POSITIVE_INFINITY;
    if (isRead || (isAnswered && !explains(state))) return undefined;
    const next = effect(state);
    const isIdle = this.specification.key(next) === this.specification.key(state);
    return isIdle && !isAnswered ? undefined : next;
  }

  /** The time of the first answer that is not explained yet. */
  #firstAnswer(): number {
    const at = this.operations.findIndex((_, i) => !this.#isDone(i));
    return at < 0 ? Number.POSITIVE_INFINITY : (this.operations[at] as Operation<State>).answered;
  }

  #isEnabled({ after }: Operation<State>): boolean {
    const at = after === undefined ? undefined : this.#places.get(after);
    return at === undefined || this.#isDone(at);
  }
}

/**
 * The smallest part found of a history that is not linearizable and still shows it: its beginning, in which later
 * answers are unknown, without reads that do not matter. What is left out cannot have been the reason.
 */
export function shrunk<State>(
  operations: readonly Operation<State>[],
  specification: Specification<State>,
): Operation<State>[] {
  const fails = (history: readonly Operation<State>[]) => !isLinearizable(history, specification);
  const answers = operations
    .map(({ answered }) => answered)
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b);
  let [passes, failing] = [-1, answers.length - 1];
  while (failing - passes > 1) {
    const middle = (passes + failing) >> 1;
    if (fails(beginning(operations, answers[middle] as number))) failing = middle;
    else passes = middle;
  }
  let left = beginning(operations, answers[failing] as number);
  for (const operation of left) {
    if (!operation.isRead) continue;
    const fewer = left.filter((each) => each !== operation);
    if (fails(fewer)) left = fewer;
  }
  return left;
}

/** A history as it was known at a time. */
function beginning<State>(
  operations: readonly Operation<State>[],
  time: number,
): Operation<State>[] {
  return operations.flatMap((operation) => {
    if (operation.called > time) return [];
    if (operation.answered <= time) return [operation];
    return operation.isRead ? [] : [{ ...operation, answered: Number.POSITIVE_INFINITY }];
  });
}

/** The operations as a table, in the order of their calls. */
export function printed<State>(operations: readonly Operation<State>[]): string {
  const first = Math.min(...operations.map(({ called }) => called));
  const time = (at: number) => (Number.isFinite(at) ? `${(at - first).toFixed(1)} ms` : "?");
  return operations
    .toSorted((a, b) => a.called - b.called)
    .map(({ called, answered, text }) => `${time(called)} to ${time(answered)}: ${text}`)
    .join("\n");
}
