import {
  countedValues,
  FIELD_ROOTS,
  fieldColumns,
  openCount,
  stepCount,
} from "../../../native/fields.ts";
import { parseJson, type WrittenNumber } from "../../domain/json/parse.ts";
import type { Steps } from "../../domain/steps.ts";
import type { NumberSet } from "../versions/number-set.ts";
import type { FieldProject } from "./field-project.ts";

/** Fields of a summary: those that the most files have. */
const FIELDS_LISTED_MAX = 200;
/** Values of a field in a summary: those that the most files have. */
const FIELD_VALUES_LISTED_MAX = 20;
/** Longer values are counted, but not listed. */
const FIELD_VALUE_LISTED_MAX_CHARS = 256;

interface CountedValue {
  /** As it was written. */
  readonly value: string | number | WrittenNumber | boolean;
  /** Files that have the value. */
  readonly count: number;
}

/** Summary of one field over the files of a scope. */
export interface FieldSummary {
  /** As filters name it. */
  readonly name: string;
  readonly types: readonly ("string" | "number" | "boolean")[];
  /** Files that have a value of the field. */
  readonly files: number;
  /** Different values. */
  readonly distinct: number;
  /** The values that the most files have. */
  readonly values: readonly CountedValue[];
}

/**
 * Summarises each field over the files of a scope: the path, then the fields that the most files have. Yields after
 * every short step. The result is invalid if the versions got new numbers in between. Values beyond the bounds of
 * columns are left out.
 */
export function* summariseFields(
  project: FieldProject,
  versions: NumberSet,
): Steps<FieldSummary[]> {
  const bounds = [FIELD_VALUES_LISTED_MAX, FIELD_VALUE_LISTED_MAX_CHARS] as const;
  const found: (Omit<FieldSummary, "values"> & { readonly values: string })[] = [];
  for (const { root, path } of fieldColumns(project.store)) {
    if (path === null) continue;
    const name = path === "" ? "path" : `${FIELD_ROOTS[root]}.${path}`;
    const count = openCount(project.store, root, path, versions, ...bounds);
    while (!stepCount(count)) yield;
    const { types, files, distinct, values } = countedValues(count);
    if (files > 0 || name === "path") found.push({ name, types, files, distinct, values });
    yield;
  }
  const [first, ...others] = found;
  others.sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
  return [first, ...others]
    .flatMap((each) => each ?? [])
    .slice(0, FIELDS_LISTED_MAX)
    .map(({ values, ...field }) => ({ ...field, values: parseJson(values) as CountedValue[] }));
}
