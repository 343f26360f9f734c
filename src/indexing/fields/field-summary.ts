import { compareScalars, type Scalar, scalarOf } from "../../shared/filter/compile.ts";
import type { Steps } from "../../shared/filter/steps.ts";
import { isWrittenNumber } from "../../shared/json/parse.ts";
import { hasDocument } from "../../text/index.ts";
import type { NumberSet } from "../versions/version-index.ts";
import type { Column, WrittenScalar } from "./column.ts";
import type { FieldProject } from "./field-project.ts";

/** Fields of a summary: those that the most files have. */
const FIELDS_LISTED_MAX = 200;
/** Values of a field in a summary: those that the most files have. */
const FIELD_VALUES_LISTED_MAX = 20;
/** Longer values are counted, but not listed. */
const FIELD_VALUE_LISTED_MAX_CHARS = 256;
/** Entries or values between two yields. */
const STEP_ENTRIES = 4_096;

const TYPES = ["string", "number", "boolean"] as const;
type ValueType = (typeof TYPES)[number];

export interface CountedValue {
  /** As it was written. */
  readonly value: WrittenScalar;
  /** Files that have the value. */
  readonly count: number;
}

/** Summary of one field over the files of a scope. */
export interface FieldSummary {
  /** As filters name it. */
  readonly name: string;
  readonly types: readonly ValueType[];
  /** Files that have a value of the field. */
  readonly files: number;
  /** Different values. */
  readonly distinct: number;
  /** The values that the most files have. */
  readonly values: readonly CountedValue[];
}

/** How many files of a scope have each value of a column. */
interface ColumnCounts {
  readonly files: number;
  /** By code. */
  readonly byCode: Uint32Array;
}

/**
 * Counts files and not entries: arrays, and chunks of one file, may repeat a value.
 *
 * @param firstChunks that of each file version if the rows of the column are chunks
 * @param chunks those that count; null for all of the versions
 */
export function* countFiles(
  column: Column,
  scope: NumberSet,
  firstChunks: Uint32Array | null,
  chunks: NumberSet | null = null,
): Steps<ColumnCounts> {
  const { length } = column.values;
  const byCode = new Uint32Array(length);
  /** The last version that had each value, from 1. */
  const lastWith = new Uint32Array(length);
  const [rows, codes] = [column.rows.values, column.codes.values];
  let [files, last, version] = [0, 0, 0];
  for (let at = 0; at < rows.length; at++) {
    if (at % STEP_ENTRIES === 0) yield;
    const row = rows[at] as number;
    if (firstChunks === null) version = row;
    else while ((firstChunks[version + 1] as number) <= row) version++;
    const code = codes[at] as number;
    // The column may have got further values meanwhile, none of them for rows that were there before.
    if (code === 0 || code >= length || !hasDocument(scope, version)) continue;
    if (firstChunks !== null && chunks !== null && !hasDocument(chunks, row)) continue;
    if (last !== version + 1) files++;
    last = version + 1;
    if (lastWith[code] === last) continue;
    lastWith[code] = last;
    byCode[code] = (byCode[code] as number) + 1;
  }
  return { files, byCode };
}

const typeOf = (value: WrittenScalar) =>
  isWrittenNumber(value) ? "number" : (typeof value as ValueType);

/** The more frequent value is first; equally frequent ones are in order within their type. */
function isBefore(a: CountedValue, b: CountedValue): boolean {
  if (a.count !== b.count) return a.count > b.count;
  const [type, other] = [typeOf(a.value), typeOf(b.value)];
  if (type !== other) return type < other;
  return (compareScalars(scalarOf(a.value) as Scalar, scalarOf(b.value) as Scalar) ?? 0) < 0;
}

/** Inserts a value in order into the `most` best values, if it is one of them. */
function insertValue(best: CountedValue[], value: CountedValue, most: number): void {
  const worst = best.at(-1);
  const isFull = best.length === most;
  if (isFull && worst !== undefined && !isBefore(value, worst)) return;
  if (isFull) best.pop();
  const at = best.findIndex((each) => isBefore(value, each));
  best.splice(at < 0 ? best.length : at, 0, value);
}

interface ListBounds {
  /** Values that are listed, those that the most files have. */
  readonly values: number;
  /** The length of a text up to which it is listed. */
  readonly chars: number;
}

/** The most frequent values of a column, the number of distinct values, and their types. */
export function* mostFrequent(
  column: Column,
  { byCode }: ColumnCounts,
  bounds: ListBounds,
): Steps<{ best: CountedValue[]; distinct: number; types: ReadonlySet<string> }> {
  const best: CountedValue[] = [];
  const types = new Set<string>();
  let distinct = 0;
  for (let code = 0; code < byCode.length; code++) {
    if (code % STEP_ENTRIES === 0) yield;
    const count = byCode[code] as number;
    const value = column.written(code);
    if (count === 0 || value === undefined) continue;
    distinct++;
    types.add(typeOf(value));
    const isShort = typeof value !== "string" || value.length <= bounds.chars;
    if (isShort) insertValue(best, { value, count }, bounds.values);
  }
  return { best, distinct, types };
}

function* summaryOf(name: string, column: Column, counts: ColumnCounts): Steps<FieldSummary> {
  const bounds = { values: FIELD_VALUES_LISTED_MAX, chars: FIELD_VALUE_LISTED_MAX_CHARS };
  const { best, distinct, types } = yield* mostFrequent(column, counts, bounds);
  const known = TYPES.filter((type) => types.has(type));
  return { name, types: known, files: counts.files, distinct, values: best };
}

/**
 * Summarises each field over the files of a scope: the path, then the fields that the most files have. Yields after
 * every short step. The result is invalid if the versions got new numbers in between. Values beyond the bounds of
 * columns are left out.
 */
export function* summariseFields(project: FieldProject, scope: NumberSet): Steps<FieldSummary[]> {
  const { path, frontmatter, metadata } = project.columns;
  const columns = [
    ...[...frontmatter.columns].map(([at, column]) => [`frontmatter.${at}`, column, null] as const),
    ...[...metadata.columns].map(
      ([at, column]) => [`metadata.${at}`, column, project.firstChunks] as const,
    ),
  ];
  const first = yield* summaryOf("path", path, yield* countFiles(path, scope, null));
  const found: FieldSummary[] = [];
  for (const [name, column, firstChunks] of columns) {
    const counts = yield* countFiles(column, scope, firstChunks);
    if (counts.files > 0) found.push(yield* summaryOf(name, column, counts));
  }
  found.sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
  return [first, ...found].slice(0, FIELDS_LISTED_MAX);
}
