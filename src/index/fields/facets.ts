import { parseJson } from "../../domain/json/parse.ts";
import { FILTER_STRING_MAX_CHARS } from "../../domain/limits.ts";
import type { Steps } from "../../domain/steps.ts";
import { addDocument, emptyDocumentSet } from "../segments/index.ts";
import type { NumberSet } from "../versions/number-set.ts";
import type { FieldProject } from "./field-project.ts";
import { type CountedValue, countValues } from "./field-summary.ts";

/** Maximum values of a facet, the most frequent ones. */
const FACET_VALUES_MAX = 100;
/** Rows between two yields. */
const STEP_ROWS = 4_096;

/** The matches whose values are counted. */
interface Matches {
  readonly versions: NumberSet;
  /** The chunks that count; null for all of the versions. */
  readonly chunks: NumberSet | null;
  /** Whether there are no other matches. */
  readonly areAll: boolean;
}

/** The values of a field with their numbers of files. */
interface Facet {
  /** The more frequent value is first; equally frequent ones are in order. */
  readonly values: readonly CountedValue[];
  /** Different values. */
  readonly total: number;
  readonly exact: boolean;
}

/** Counts the values of a field, which is named as in filters. Yields after every short step. */
function* countFacet(
  project: FieldProject,
  field: string,
  { areAll, ...matches }: Matches,
): Steps<Facet> {
  const bounds = { values: FACET_VALUES_MAX, chars: FILTER_STRING_MAX_CHARS };
  const counts = yield* countValues(project, field, matches, bounds);
  const { values, distinct: total, hasOthers } = counts;
  // Values beyond the bounds of columns are not counted.
  const exact = areAll && !hasOthers;
  return { values: parseJson(values) as CountedValue[], total, exact };
}

/** The known versions among these. */
function* knownVersions({ table }: FieldProject, versionIds: readonly string[]): Steps<NumberSet> {
  const set = emptyDocumentSet(table.count);
  for (const [at, id] of versionIds.entries()) {
    if (at % STEP_ROWS === 0) yield;
    const number = table.numberOf(id);
    if (number !== undefined) addDocument(set, number);
  }
  return set;
}

/** The matches whose values are counted, as the ids of file versions. */
interface NamedMatches extends Omit<Matches, "versions"> {
  readonly ids: readonly string[];
}

/** Counts the values of some fields. Yields after every short step. */
export function* countFacets(
  project: FieldProject,
  names: readonly string[],
  { ids, ...rest }: NamedMatches,
): Steps<Record<string, Facet>> {
  const matches = { ...rest, versions: yield* knownVersions(project, ids) };
  const found: Record<string, Facet> = {};
  for (const name of names) found[name] = yield* countFacet(project, name, matches);
  return found;
}
