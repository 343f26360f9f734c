import { checkFilter, isObject } from "../../domain/filter/check.ts";
import { canonicalValue } from "../../domain/json/canonical.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { documentPath } from "../../domain/paths.ts";
import { invalid } from "../../domain/problem/problem.ts";
import type { FieldError } from "../../domain/problem/schema.ts";
import { derivedScope, type Scope } from "../../domain/scope.ts";

/** A checked filter as canonical JSON text; null matches everything. */
export type FilterText = string | null;

/** The operand of a path in the form that stored paths have. */
function normalized(operand: unknown): unknown {
  if (typeof operand === "string") return documentPath(operand);
  if (Array.isArray(operand)) return operand.map(normalized);
  return isObject(operand) ? mapValues(operand, normalized) : operand;
}

/** A filter, or a list of filters, with normalized paths. Operands of other fields, which may be long, are not visited. */
function withPaths(filter: unknown): unknown {
  if (Array.isArray(filter)) return filter.map(withPaths);
  if (!isObject(filter)) return filter;
  return mapValues(filter, (value, name) => {
    if (name === "path") return normalized(value);
    return name.startsWith("$") ? withPaths(value) : value;
  });
}

function mapValues(
  object: Record<string, unknown>,
  change: (value: unknown, name: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([name, value]) => [name, change(value, name)]));
}

/** The filter, or its faults. Absent and null match everything. */
export function readFilter(value: unknown): FilterText | FieldError[] {
  if (value === undefined || value === null) return null;
  const faults = checkFilter(value);
  if (faults.length > 0) return [...faults];
  const text = canonicalValue(withPaths(value));
  return text === "{}" ? null : text;
}

/** The filter of a query parameter, or its faults. */
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

/** Throws a 400 about the faults of a filter. */
export function validFilter(filter: FilterText | FieldError[]): FilterText {
  if (Array.isArray(filter)) throw invalid(filter);
  return filter;
}

/** The part of a scope that a filter matches. */
export function filteredScope(scope: Scope, filter: FilterText): Scope {
  return filter === null ? scope : derivedScope(scope, filter);
}
