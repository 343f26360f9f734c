/**
 * The fields of file versions that filters compare, filters over them, and counts of their values. All of these belong
 * to the thread that opens them; facets of other threads count fields that it shares. The versions of a project are
 * numbered, and so are the chunks of all versions, in the same order. A set of numbers has bit n & 31 of word n >> 5.
 *
 * Every function throws a TypeError on arguments of a wrong shape before it touches any memory.
 */
import { addon } from "./addon.ts";

/** The fields of a project. */
export interface FieldStore {
  readonly kind: "fields";
}

/** A filter and its results. */
export interface OpenFilter {
  readonly kind: "filter";
}

/** How many files have each value of a field. */
export interface OpenCount {
  readonly kind: "count";
}

/** The kinds of fields, by their numbers. */
export const FIELD_ROOTS = ["path", "frontmatter", "metadata"] as const;

/** A field: the number of its root, and the path into the object of the root, which is "" for `path`. */
interface FieldColumn {
  readonly root: number;
  /** Null for the values beyond the bounds of columns. */
  readonly path: string | null;
  /** Values of rows: versions, or chunks. */
  readonly entries: number;
}

/** Entries of a field: their rows, and the codes of their values. */
interface FieldEntries {
  /** The values of the codes from the first one that was not written, as a JSON array. */
  readonly values: string;
  /** The first code that is not written after these values. */
  readonly written: number;
  readonly rows: Uint32Array;
  readonly codes: Uint32Array;
}

/** The members of a scope that match a filter. */
interface FilterMembers {
  readonly numbers: Uint32Array;
  readonly chunks: Uint32Array | null;
}

interface CountedValues {
  /** Files that have a value of the field. */
  readonly files: number;
  /** Different values. */
  readonly distinct: number;
  readonly types: readonly ("string" | "number" | "boolean")[];
  /** The most frequent values with the number of files, as the JSON text of an array. */
  readonly values: string;
}

interface FieldFunctions {
  openFields(): FieldStore;
  /**
   * Adds the next version: the JSON object of its frontmatter, and the JSON array of the metadata of its chunks. Both
   * are texts of JSON.stringify.
   */
  addFields(
    fields: FieldStore,
    version: string,
    path: string,
    frontmatter: string,
    metadata: string,
    chunks: number,
  ): void;
  /** Adds the next version without values, which `restoreEntries` adds. */
  appendVersion(fields: FieldStore, version: string, chunks: number): void;
  /** Gives versions that were added again these new numbers, which scopes have from now on. */
  moveVersions(fields: FieldStore, numbers: Uint32Array): void;
  /** A copy with the versions of a set only, which get new numbers in the same order. */
  keepVersions(fields: FieldStore, held: Uint32Array): FieldStore;
  /**
   * Lets facets of any thread count fields, under the name that a project has in the native registry. Filtered scopes
   * that were shared before no longer are.
   */
  shareFields(fields: FieldStore, project: string): void;
  /** `dropProject` does this, too. */
  unshareFields(project: string): void;
  /**
   * Lets facets count the chunks of a filtered scope, by the numbers of these fields; null for all chunks of its
   * versions. Without effect unless they are the shared fields of the project.
   */
  shareFilteredScope(
    fields: FieldStore,
    project: string,
    scope: string,
    chunks: Uint32Array | null,
  ): void;
  unshareFilteredScope(project: string, scope: string): void;
  /** Memory of the chunks of filtered scopes that are shared, in bytes. */
  sharedScopeBytes(project: string): number;
  /** Memory, in bytes. */
  fieldBytes(fields: FieldStore): number;
  fieldColumns(fields: FieldStore): FieldColumn[];
  fieldEntries(
    fields: FieldStore,
    root: number,
    path: string | null,
    first: number,
    end: number,
    written: number,
  ): FieldEntries;
  /** Adds entries that `fieldEntries` has returned. Throws if they cannot follow. */
  restoreEntries(
    fields: FieldStore,
    root: number,
    path: string | null,
    values: string,
    rows: Uint32Array,
    codes: Uint32Array,
  ): void;
  /** @param filter the JSON text of a filter in which `checkFilter` has found no fault, without white space */
  openFilter(fields: FieldStore, filter: string): OpenFilter;
  /** Begins to evaluate the versions of a scope that have not been evaluated. */
  beginFilter(filter: OpenFilter, scope: Uint32Array): void;
  /** Does a short step. True if all are evaluated. */
  stepFilter(filter: OpenFilter): boolean;
  /** Null if a version of the scope has not been evaluated. */
  filterMembers(filter: OpenFilter, scope: Uint32Array): FilterMembers | null;
  /**
   * Counts files, not entries: arrays, and chunks of one file, may repeat a value.
   *
   * @param valuesMax values that are listed, those that the most files have
   * @param charsMax the length of a text up to which it is listed
   */
  openCount(
    fields: FieldStore,
    root: number,
    path: string,
    versions: Uint32Array,
    valuesMax: number,
    charsMax: number,
  ): OpenCount;
  /** Does a short step. True if all are counted. */
  stepCount(count: OpenCount): boolean;
  countedValues(count: OpenCount): CountedValues;
}

export const {
  openFields,
  addFields,
  appendVersion,
  moveVersions,
  keepVersions,
  sharedScopeBytes,
  shareFields,
  unshareFields,
  shareFilteredScope,
  unshareFilteredScope,
  fieldBytes,
  fieldColumns,
  fieldEntries,
  restoreEntries,
  openFilter,
  beginFilter,
  stepFilter,
  filterMembers,
  openCount,
  stepCount,
  countedValues,
} = addon as FieldFunctions;
