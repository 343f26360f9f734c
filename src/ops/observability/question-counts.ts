/** Maximum distinct questions of a project and of all projects, and maximum projects, until they are stored. */
const PROJECT_QUESTIONS_MAX = 500;
const QUESTIONS_MAX = 10_000;
const PROJECTS_MAX = 5_000;
/** Maximum characters of a stored question. */
const QUESTION_MAX_CHARS = 200;

/** Durations are counted between bounds that grow by this factor, from 1 ms to a quarter of a minute. */
const DURATION_GROWTH = Math.SQRT2;
const DURATION_BOUNDS_MS = Array.from({ length: 28 }, (_, i) => DURATION_GROWTH ** i);

/** A question in words that a request has asked. */
export interface AskedQuestion {
  readonly project: string;
  readonly text: string;
  /** A lower bound of the number of hits. */
  readonly matches: number;
}

/**
 * The question of an answered page. Undefined without words, as in a search by a vector, and for a later page, which
 * belongs to the question of the first one.
 */
export function askedQuestion(
  project: string,
  text: string | null | undefined,
  matches: number | null,
): AskedQuestion | undefined {
  return text && matches !== null ? { project, text, matches } : undefined;
}

interface Tally {
  asked: number;
  without_hits: number;
}

/** The questions of a project on a day, in UTC, since they were last stored. */
export interface QuestionDay extends Tally {
  readonly project: string;
  /** As in `2026-01-06`. */
  readonly day: string;
  /** The number of answers in each interval of durations. The last one is unbounded. */
  readonly durations: number[];
  readonly questions: Map<string, Tally>;
}

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Questions that differ only in case and white space count as one. PostgreSQL can store the result for any input. */
const normalized = (question: string): string =>
  question
    .slice(0, QUESTION_MAX_CHARS)
    .normalize()
    .toLowerCase()
    .replaceAll("\0", " ")
    .replace(/\s+/g, " ")
    .trim()
    .toWellFormed();

const count = (tally: Tally, isEmpty: boolean) => {
  tally.asked++;
  if (isEmpty) tally.without_hits++;
};

/**
 * Counts the questions in words per project, within bounds of memory. Beyond the bounds sums still count, but single
 * questions are dropped: further ones of a full project, or all of the project that has most.
 */
export class QuestionCounts {
  /** By project and day. */
  #days = new Map<string, QuestionDay>();
  /** The number of distinct questions of all projects. */
  #kept = 0;

  /** @param matches a lower bound of the number of hits; 0 if all are weak */
  add(project: string, question: string, matches: number, ms: number, now = Date.now()): void {
    const of = this.#dayOf(project, dayOf(now));
    if (of === undefined) return;
    count(of, matches === 0);
    const bucket = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound);
    const at = bucket < 0 ? DURATION_BOUNDS_MS.length : bucket;
    of.durations[at] = (of.durations[at] ?? 0) + 1;
    const text = normalized(question);
    let tally = of.questions.get(text);
    if (tally === undefined) {
      if (of.questions.size >= PROJECT_QUESTIONS_MAX) return;
      if (this.#kept >= QUESTIONS_MAX) this.#makeRoom();
      tally = { asked: 0, without_hits: 0 };
      of.questions.set(text, tally);
      this.#kept++;
    }
    count(tally, matches === 0);
  }

  /** Returns the counts since the last call, and resets them. */
  take(): QuestionDay[] {
    const days = [...this.#days.values()];
    this.#days = new Map();
    this.#kept = 0;
    return days;
  }

  #dayOf(project: string, day: string): QuestionDay | undefined {
    const key = `${project} ${day}`;
    const known = this.#days.get(key);
    if (known !== undefined || this.#days.size >= PROJECTS_MAX) return known;
    const durations = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
    const of = { project, day, asked: 0, without_hits: 0, durations, questions: new Map() };
    this.#days.set(key, of);
    return of;
  }

  #makeRoom(): void {
    const days = [...this.#days.values()];
    const { questions } = days.reduce((a, b) => (a.questions.size >= b.questions.size ? a : b));
    this.#kept -= questions.size;
    questions.clear();
  }
}

/** The quantile of the durations at `share`, in milliseconds; null without answers. */
export function durationAt(share: number, durations: readonly number[]): number | null {
  const rank = share * durations.reduce((sum, each) => sum + each, 0);
  let below = 0;
  for (const [i, each] of durations.entries()) {
    if (each > 0 && below + each >= rank) {
      const to = DURATION_BOUNDS_MS[i] ?? (DURATION_BOUNDS_MS.at(-1) as number) * DURATION_GROWTH;
      const from = DURATION_BOUNDS_MS[i - 1] ?? 0;
      return Number((from + ((to - from) * (rank - below)) / each).toPrecision(3));
    }
    below += each;
  }
  return null;
}
