import { type Scalar, scalarOf } from "../../shared/filter/compile.ts";
import { isWrittenNumber, type WrittenNumber } from "../../shared/json/parse.ts";
import { Numbers } from "../../shared/numbers.ts";
import { CodeTable } from "./code-table.ts";

/** The code of a field that exists without a value to compare: an object, or an empty array. */
const EXISTS = 0;

/** A string of the heap with its place in the list of values, without its characters. */
const VALUE_BYTES = 56;
/** The objects of a column. */
const COLUMN_BYTES = 512;

/** A value in the form in which it is written. */
export type WrittenScalar = string | number | WrittenNumber | boolean;

/** Copies a text: a substring would keep the long text it was cut from in memory. */
const copied = (value: Scalar): Scalar =>
  typeof value === "string" ? Buffer.from(value).toString() : value;

/**
 * The values of one field. Each distinct value has a code; an entry says that a row has the value of a code.
 * Entries are in the order of their rows. A row whose field is an array has an entry for each element.
 */
export class Column {
  readonly rows = new Numbers();
  readonly codes = new Numbers();
  /** The value of each code. */
  readonly values: (Scalar | undefined)[] = [undefined];
  /** The numbers that JavaScript would write differently, by code: as they were written first. */
  readonly #written = new Map<number, WrittenNumber>();
  readonly #codes = new CodeTable(this.values);
  #valueBytes = 0;

  /** Memory, in bytes; most strings have one byte per character. */
  get bytes(): number {
    const lists = this.rows.bytes + this.codes.bytes + this.#codes.bytes;
    return COLUMN_BYTES + lists + this.#valueBytes;
  }

  /** Adds an entry. No row may be below that of the last entry. Without a value the field merely exists. */
  add(row: number, value?: WrittenScalar): void {
    this.rows.push(row);
    const scalar = scalarOf(value);
    const code = scalar === undefined ? EXISTS : this.codeOf(scalar);
    this.codes.push(code ?? this.#addValue(value as WrittenScalar));
  }

  /** The value of a code as it was written; undefined for that of no value. */
  written(code: number): WrittenScalar | undefined {
    return this.#written.get(code) ?? (this.values[code] as WrittenScalar | undefined);
  }

  /** The code of a value; undefined if no entry has it. */
  codeOf(value: Scalar): number | undefined {
    return this.#codes.find(value);
  }

  /** Gives the next code to a new value. */
  #addValue(value: WrittenScalar): number {
    const code = this.values.length;
    const own = copied(scalarOf(value) as Scalar);
    this.values.push(own);
    this.#codes.add(code);
    this.#valueBytes += VALUE_BYTES + (typeof own === "string" ? own.length : 0);
    if (isWrittenNumber(value)) {
      this.#written.set(code, value);
      this.#valueBytes += 2 * (VALUE_BYTES + value.rawJSON.length);
    }
    return code;
  }

  /** Adds the next values, and the entries with their codes. */
  restore(values: readonly WrittenScalar[], rows: Uint32Array, codes: Uint32Array): void {
    for (const value of values) this.#addValue(value);
    for (const [i, row] of rows.entries()) {
      this.rows.push(row);
      this.codes.push(codes[i] as number);
    }
  }

  /** The entries of the rows that have a new number, which is not negative, under those numbers. */
  renumbered(numbers: Int32Array): Column {
    const column = new Column();
    for (let i = 0; i < this.rows.length; i++) {
      const row = numbers[this.rows.at(i)] as number;
      if (row >= 0) column.add(row, this.written(this.codes.at(i)));
    }
    return column;
  }
}
