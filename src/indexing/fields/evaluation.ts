import { type Comparison, type Condition, somePasses } from "../../shared/filter/compile.ts";
import type { Steps } from "../../shared/filter/steps.ts";
import { lowerBound } from "../../shared/numbers.ts";
import type { Column } from "./column.ts";
import { FieldColumns } from "./field-columns.ts";
import type { FieldProject } from "./field-project.ts";

/** 1 for each row of a block that is meant. */
type Mask = Uint8Array;

/** Simple comparisons between two yields. */
const STEP_COMPARISONS = 4_096;
/** The outcomes for the values of a column are remembered if it has no more. */
const REMEMBERED_VALUES_MAX = 8_192;

const OUTCOMES = { unknown: 0, fails: 1, passes: 2 } as const;

/** Consecutive rows of a column: versions, or chunks. */
interface Rows {
  readonly first: number;
  readonly end: number;
}

/** File versions with consecutive numbers, and their chunks. */
interface Block {
  readonly versions: Rows;
  readonly chunks: Rows;
}

/** Tests the value of a code, which may take several steps. */
type Test = (code: number) => boolean | Steps<boolean>;

/**
 * The values of a column that pass, as a test of their codes. Values that the column gets later may fail
 * wrongly: no row that was there before has them.
 */
function testOf(comparison: Comparison, column: Column): Test | number | null {
  const { passes, equals } = comparison;
  const { values } = column;
  if (passes === undefined) return () => true;
  if (equals !== undefined) {
    const codes = equals.flatMap((value) => column.codeOf(value) ?? []);
    if (codes.length < 2) return codes[0] ?? null;
  }
  const test = (code: number) => {
    const value = values[code];
    return value !== undefined && passes(value);
  };
  if (values.length > REMEMBERED_VALUES_MAX) return test;
  const outcomes = new Uint8Array(values.length);
  const remember = (code: number, outcome: boolean) => {
    outcomes[code] = outcome ? OUTCOMES.passes : OUTCOMES.fails;
    return outcome;
  };
  function* inSteps(code: number, steps: Steps<boolean>): Steps<boolean> {
    return remember(code, yield* steps);
  }
  return (code) => {
    if (outcomes[code] !== OUTCOMES.unknown) return outcomes[code] === OUTCOMES.passes;
    const outcome = test(code);
    return typeof outcome === "boolean" ? remember(code, outcome) : inSteps(code, outcome);
  };
}

/** The same for values that have no column of their own. Each text of them takes a step. */
function testOfRest({ passes, path }: Comparison, { values }: Column): Test {
  return function* (code) {
    const found = FieldColumns.valuesInRest(values[code], path);
    yield;
    return passes === undefined ? found.length > 0 : yield* somePasses(passes, found);
  };
}

/** One evaluation of a condition over the columns of a project. */
export class Evaluation {
  readonly #tests = new Map<Comparison, { column: Column; test: Test | number | null }[]>();

  /** @param byChunk evaluates chunks; else versions */
  constructor(
    private readonly project: FieldProject,
    private readonly condition: Condition,
    private readonly byChunk: boolean,
  ) {}

  /**
   * The rows of versions from `first` to `end`, without it, that are wanted and match. Yields after every
   * STEP_COMPARISONS, and within the comparison of a long text.
   */
  matches(first: number, end: number, wanted: Mask): Steps<Mask> {
    const { project } = this;
    const chunks = { first: project.firstChunk(first), end: project.firstChunk(end) };
    return this.#evaluate(this.condition, { versions: { first, end }, chunks }, wanted);
  }

  *#evaluate(condition: Condition, block: Block, wanted: Mask): Steps<Mask> {
    switch (condition.kind) {
      case "all": {
        let left = wanted;
        for (const part of condition.parts) left = yield* this.#evaluate(part, block, left);
        return left;
      }
      case "any": {
        const [found, left] = [new Uint8Array(wanted.length), wanted.slice()];
        for (const part of condition.parts) {
          const more = yield* this.#evaluate(part, block, left);
          for (let i = 0; i < left.length; i++) {
            found[i] = (found[i] as number) | (more[i] as number);
            left[i] = (left[i] as number) & ~(more[i] as number);
          }
        }
        return found;
      }
      case "not": {
        const without = yield* this.#evaluate(condition.part, block, wanted);
        return wanted.map((each, i) => each & ~(without[i] as number));
      }
      case "some":
        return yield* this.#compare(condition, block, wanted);
    }
  }

  *#compare(comparison: Comparison, block: Block, wanted: Mask): Steps<Mask> {
    if (!this.byChunk) return yield* this.#compareRows(comparison, block.versions, wanted);
    if (comparison.root === "metadata") {
      return yield* this.#compareRows(comparison, block.chunks, wanted);
    }
    const versions = new Uint8Array(block.versions.end - block.versions.first);
    this.#forEachChunk(block, (chunk, version) => {
      versions[version] = (versions[version] as number) | (wanted[chunk] as number);
    });
    const passing = yield* this.#compareRows(comparison, block.versions, versions);
    const found = new Uint8Array(wanted.length);
    this.#forEachChunk(block, (chunk, version) => {
      found[chunk] = (passing[version] as number) & (wanted[chunk] as number);
    });
    return found;
  }

  /** Visits the chunks of a block with their versions, both counted from its begin. */
  #forEachChunk(
    { versions, chunks }: Block,
    visit: (chunk: number, version: number) => void,
  ): void {
    const { first, end } = versions;
    for (let version = first, chunk = 0; version < end; version++) {
      const last = this.project.firstChunk(version + 1) - chunks.first;
      for (; chunk < last; chunk++) visit(chunk, version - first);
    }
  }

  *#compareRows(comparison: Comparison, rows: Rows, wanted: Mask): Steps<Mask> {
    const found = new Uint8Array(wanted.length);
    const step = Math.max(1, Math.floor(STEP_COMPARISONS / comparison.cost));
    for (const { column, test } of this.#testsOf(comparison)) {
      if (test === null) continue;
      const entries = column.rows.values;
      const end = lowerBound(entries, rows.end);
      for (let at = lowerBound(entries, rows.first); at < end; at += step) {
        yield* mark(column, test, at, Math.min(end, at + step), rows.first, wanted, found);
        yield;
      }
    }
    return found;
  }

  /** The columns that may have values of a field. */
  #testsOf(comparison: Comparison): { column: Column; test: Test | number | null }[] {
    let tests = this.#tests.get(comparison);
    if (tests !== undefined) return tests;
    const { root, path } = comparison;
    const { columns } = this.project;
    if (root === "path") {
      tests = [{ column: columns.path, test: testOf(comparison, columns.path) }];
    } else {
      const { columns: known, rest } = columns[root as "frontmatter" | "metadata"];
      const column = known.get(path);
      tests = [];
      if (column !== undefined) tests.push({ column, test: testOf(comparison, column) });
      if (rest.rows.length > 0) tests.push({ column: rest, test: testOfRest(comparison, rest) });
    }
    this.#tests.set(comparison, tests);
    return tests;
  }
}

/** Marks the wanted rows that have an entry which passes, among entries from `at` to `end`, without it. */
function* mark(
  column: Column,
  test: Test | number,
  at: number,
  end: number,
  first: number,
  wanted: Mask,
  found: Mask,
): Steps<void> {
  const rows = column.rows.values;
  const codes = column.codes.values;
  if (typeof test === "number") {
    for (let i = at; i < end; i++) {
      if (codes[i] !== test) continue;
      const row = (rows[i] as number) - first;
      found[row] = wanted[row] as number;
    }
    return;
  }
  for (let i = at; i < end; i++) {
    const row = (rows[i] as number) - first;
    if (wanted[row] !== 1 || found[row] !== 0) continue;
    const outcome = test(codes[i] as number);
    if (typeof outcome === "boolean" ? outcome : yield* outcome) found[row] = 1;
  }
}
