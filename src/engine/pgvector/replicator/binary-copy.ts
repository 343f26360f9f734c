import { finished } from "node:stream/promises";
import type { Transaction } from "../../../db/client.ts";

/** The header of a binary COPY: a signature, flags and the length of an extension. */
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
/** Instead of the number of columns of a further row. */
const END = -1;
/** Instead of the length of a value. */
const NULL_LENGTH = -1;
const FIRST_BYTES = 65_536;

/**
 * Rows for a COPY in its binary form, which PostgreSQL reads several times as fast as values in text. Values are
 * written in the forms of PostgreSQL's functions `*_send` and into one growing buffer, because a buffer for each
 * takes longer than all else.
 */
export class CopyRows {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = HEADER.copy(this.#bytes);
  #count = 0;

  /** The number of rows. */
  get count(): number {
    return this.#count;
  }

  /** The bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Begins a row, whose values follow in the order of the columns. */
  row(columns: number): this {
    this.#count++;
    return this.#int2(columns);
  }

  null(): this {
    return this.#int4(NULL_LENGTH);
  }

  int4(value: number): this {
    return this.#int4(4).#int4(value);
  }

  uuid(value: string): this {
    this.#int4(16).#reserve(16);
    this.#length += this.#bytes.write(value.replaceAll("-", ""), this.#length, "hex");
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.byteLength(value);
    this.#int4(bytes).#reserve(bytes);
    this.#length += this.#bytes.write(value, this.#length);
    return this;
  }

  /** @param bits the first bit is the highest one of the first byte */
  bit(bits: Uint8Array): this {
    this.#int4(4 + bits.length).#int4(8 * bits.length);
    this.#append(bits);
    return this;
  }

  /** pgvector's type: two counts of 2 bytes, then big-endian float32. */
  vector(vector: Float32Array): this {
    const { buffer, byteOffset, byteLength } = vector;
    this.#int4(4 + byteLength).#int4(vector.length << 16);
    const start = this.#append(new Uint8Array(buffer, byteOffset, byteLength));
    this.#bytes.subarray(start, this.#length).swap32();
    return this;
  }

  /** Ends the rows. Returns all bytes. Rows cannot be added afterwards. */
  end(): Uint8Array {
    this.#int2(END);
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  /** Returns where the bytes begin. */
  #append(bytes: Uint8Array): number {
    this.#reserve(bytes.length);
    const start = this.#length;
    this.#bytes.set(bytes, start);
    this.#length += bytes.length;
    return start;
  }

  #int2(value: number): this {
    this.#reserve(2);
    this.#length = this.#bytes.writeInt16BE(value, this.#length);
    return this;
  }

  #int4(value: number): this {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
    return this;
  }
}

/**
 * Adds rows to a table.
 * @param columns names that need no quotes
 */
export async function copyRows(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  rows: CopyRows,
): Promise<void> {
  const statement = `COPY ${table} (${columns.join()}) FROM STDIN WITH (FORMAT binary)`;
  const stream = await tx.unsafe(statement).writable();
  const done = finished(stream);
  stream.end(rows.end());
  await done;
}
