import { isObject } from "../../shared/filter/check.ts";
import { type Scalar, scalarOf } from "../../shared/filter/compile.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { FILTER_STRING_MAX_CHARS } from "../../shared/limits.ts";
import { Column, type WrittenScalar } from "./column.ts";

/** Fields with a column of their own. The values of further ones are kept together. */
const FIELD_COLUMNS_MAX = 1_024;
/** Values of one row that are in columns. Further ones are kept together. */
const FIELD_ROW_ENTRIES_MAX = 256;
/** No filter names a longer field, in UTF-16 units. */
const FIELD_PATH_MAX_CHARS = 2 * FILTER_STRING_MAX_CHARS;

/** A field with its value, or without one if it merely exists. */
type Entry = readonly [path: string, value?: WrittenScalar | undefined];

type Visit = (path: string, value?: WrittenScalar) => void;

const isScalar = (value: unknown): value is WrittenScalar => scalarOf(value) !== undefined;

/** Visits a field with its value: the fields in an object too, and each element of an array. A null is not visited. */
function visitField(path: string, value: unknown, visit: Visit): void {
  if (isScalar(value)) visit(path, value);
  else if (Array.isArray(value)) {
    const scalars = value.filter(isScalar);
    if (scalars.length === 0) visit(path);
    for (const each of scalars) visit(path, each);
  } else if (isObject(value)) {
    visit(path);
    visitFields(value, `${path}.`, visit);
  }
}

function visitFields(
  values: Readonly<Record<string, unknown>>,
  prefix: string,
  visit: Visit,
): void {
  for (const name of Object.keys(values)) {
    const path = prefix + name;
    // A filter cannot name these, because dots lead into objects.
    const isNamed = name !== "" && !name.includes(".") && path.length <= FIELD_PATH_MAX_CHARS;
    if (isNamed) visitField(path, values[name], visit);
  }
}

/** The fields of rows, which have numbers: the frontmatter of file versions, or the metadata of chunks. */
export class FieldColumns {
  constructor(
    /** By the path into the object. */
    readonly columns = new Map<string, Column>(),
    /** Values beyond the bounds, as JSON texts of entries: many short values would need much memory otherwise. */
    readonly rest = new Column(),
  ) {}

  get bytes(): number {
    let bytes = this.rest.bytes;
    for (const column of this.columns.values()) bytes += column.bytes;
    return bytes;
  }

  /** Adds a row, which must be above all others. */
  add(row: number, values: Readonly<Record<string, unknown>>): void {
    const rest: Entry[] = [];
    let count = 0;
    visitFields(values, "", (path, value) => {
      const column = count < FIELD_ROW_ENTRIES_MAX ? this.#column(path) : undefined;
      count++;
      if (column === undefined) rest.push([path, value]);
      else column.add(row, value);
    });
    if (rest.length > 0) this.rest.add(row, JSON.stringify(rest));
  }

  /** The column of a field, created on first use. */
  open(path: string): Column {
    const column = this.columns.get(path) ?? new Column();
    if (column.rows.length === 0) this.columns.set(path, column);
    return column;
  }

  /** The values of a field in a text of `rest`. One is undefined if the field exists without it. */
  static valuesInRest(text: Scalar | undefined, path: string): unknown[] {
    const entries = parseJson(text as string) as [string, unknown][];
    return entries.filter(([each]) => each === path).map(([, value]) => value ?? undefined);
  }

  /** The rows that have a new number, which is not negative, under those numbers. */
  renumbered(numbers: Int32Array): FieldColumns {
    const columns = [...this.columns].map(
      ([path, column]) => [path, column.renumbered(numbers)] as const,
    );
    const used = columns.filter(([, column]) => column.rows.length > 0);
    return new FieldColumns(new Map(used), this.rest.renumbered(numbers));
  }

  #column(path: string): Column | undefined {
    const isFull = this.columns.size >= FIELD_COLUMNS_MAX;
    return isFull ? this.columns.get(path) : this.open(path);
  }
}
