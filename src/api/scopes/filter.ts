import { derivedScope, type Scope } from "../../engine/requests/scope.ts";
import { invalid } from "../../problem/problem.ts";
import type { FieldError } from "../../problem/schema.ts";
import { checkFilter, isObject } from "../../shared/filter/check.ts";
import { canonicalValue } from "../../shared/json/canonical.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { documentPath } from "../../shared/paths.ts";

/** A checked filter as canonical JSON text; null matches everything. */
export type FilterText = string | null;

/** The filter with the paths in it in the form that stored ones have. */
function withPaths(filter: unknown, isPath = false): unknown {
  if (typeof filter === "string") return isPath ? documentPath(filter) : filter;
  if (Array.isArray(filter)) return filter.map((each) => withPaths(each, isPath));
  if (!isObject(filter)) return filter;
  const entries = Object.entries(filter).map(
    ([name, value]) => [name, withPaths(value, isPath || name === "path")] as const,
  );
  return Object.fromEntries(entries);
}

/** The filter, or what is wrong with it. Absent and null match everything. */
export function readFilter(value: unknown): FilterText | FieldError[] {
  if (value === undefined || value === null) return null;
  const faults = checkFilter(value);
  if (faults.length > 0) return [...faults];
  const text = canonicalValue(withPaths(value));
  return text === "{}" ? null : text;
}

/** The filter of a query parameter, or what is wrong with it. */
export function readFilterParameter(text: string | undefined): FilterText | FieldError[] {
  if (text === undefined) return null;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return [{ field: "filter", message: "is not valid JSON" }];
  }
  return value === null ? [{ field: "filter", message: "must be an object" }] : readFilter(value);
}

/** Throws what is wrong with a filter. */
export function validFilter(filter: FilterText | FieldError[]): FilterText {
  if (Array.isArray(filter)) throw invalid(filter);
  return filter;
}

/** The part of a scope that a filter matches. */
export function narrowed(scope: Scope, filter: FilterText): Scope {
  return filter === null ? scope : derivedScope(scope, filter);
}
