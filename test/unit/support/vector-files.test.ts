import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import {
  loadVectors,
  padded,
  readNeighbours,
  readVectors,
} from "../../../bench/harness/vector-files.ts";
import { temporaryFolder } from "../../../support/folders.ts";

const ROWS = 3;
const DIMENSION = 4;
/** All of them can be written with 16 bits, among them a subnormal number and the largest one. */
const VALUES = [0, 1, -2.5, 0.333251953125, 65_504, 2 ** -24, -0.5, 100, 3, -1, 2 ** -14, 7];

const floats = Float32Array.from(VALUES);
const bytesOf = (array: Float32Array | Float64Array | Uint16Array | Int32Array) =>
  new Uint8Array(array.buffer as ArrayBuffer);
const halves = () => {
  const view = new DataView(new ArrayBuffer(VALUES.length * 2));
  for (const [i, value] of VALUES.entries()) view.setFloat16(i * 2, value, true);
  return new Uint8Array(view.buffer);
};

function npy(type: string, data: Uint8Array, version = 1): Uint8Array {
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${ROWS}, ${DIMENSION}), }\n`;
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(header.length, 0, length.length);
  const magic = Buffer.from([0x93, ...Buffer.from("NUMPY"), version, 0]);
  return Buffer.concat([magic, length, Buffer.from(header), data]);
}

const fvecs = Buffer.concat(
  Array.from({ length: ROWS }, (_, row) =>
    Buffer.concat([
      bytesOf(Int32Array.of(DIMENSION)),
      bytesOf(floats.slice(row * DIMENSION, (row + 1) * DIMENSION)),
    ]),
  ),
);

const FILES: ReadonlyArray<[name: string, content: Uint8Array]> = [
  ["a.f32", bytesOf(floats)],
  ["a.f16", halves()],
  ["a.fvecs", fvecs],
  ["half.npy", npy("<f2", halves())],
  ["single.npy", npy("<f4", bytesOf(floats))],
  ["double.npy", npy("<f8", bytesOf(Float64Array.from(VALUES)))],
  ["later.npy", npy("<f4", bytesOf(floats), 2)],
];

test.each(FILES)("benchmarks read the vectors of %s", async (name, content) => {
  const path = join(temporaryFolder("vectors"), name);
  await Bun.write(path, content);
  const { rows, dimension, values } = readVectors(path, DIMENSION);
  expect({ rows, dimension }).toEqual({ rows: ROWS, dimension: DIMENSION });
  expect(Array.from(values)).toEqual(VALUES);
});

test("benchmarks refuse files of vectors that they cannot read", async () => {
  const folder = temporaryFolder("vectors");
  const bad: ReadonlyArray<[name: string, content: Uint8Array]> = [
    ["short.f32", bytesOf(floats.slice(1))],
    ["whole.npy", npy("<i4", bytesOf(floats))],
    ["a.csv", Buffer.from("1,2,3")],
    ["torn.fvecs", fvecs.subarray(0, fvecs.length - 4)],
  ];
  for (const [name, content] of bad) {
    const path = join(folder, name);
    await Bun.write(path, content);
    expect(() => readVectors(path, DIMENSION), name).toThrow(name);
  }
});

/** Rows of one length, with any numbers that a float32 can hold. */
const matrices = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .chain(([rows, dimension]) => {
    // The Parquet writer of this test loses the sign of a zero.
    const element = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
    const row = fc.array(element, { minLength: dimension, maxLength: dimension });
    return fc.array(row, { minLength: rows, maxLength: rows });
  });

const withLengths = (
  rows: readonly (readonly number[])[],
  of: (row: readonly number[]) => Buffer,
) => Buffer.concat(rows.map((row) => Buffer.concat([bytesOf(Int32Array.of(row.length)), of(row)])));

function parquet(name: string, rows: readonly (readonly number[])[]): Uint8Array {
  const ids = rows.map((_, i) => BigInt(i));
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "id", data: ids, type: "INT64" },
        { name, data: rows.map((row) => [...row]) },
      ],
    }),
  );
}

test("vectors that were written in any format are read as they were", async () => {
  const folder = temporaryFolder("vectors");
  await fc.assert(
    fc.asyncProperty(matrices, async (rows) => {
      const dimension = rows[0]?.length ?? 0;
      const flat = Float32Array.from(rows.flat());
      const shape = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows.length}, ${dimension}), }\n`;
      const length = Buffer.alloc(2);
      length.writeUInt16LE(shape.length);
      const magic = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0]);
      const files: [string, Uint8Array][] = [
        ["p.f32", bytesOf(flat)],
        ["p.fvecs", withLengths(rows, (row) => Buffer.from(Float32Array.from(row).buffer))],
        ["p.npy", Buffer.concat([magic, length, Buffer.from(shape), bytesOf(flat)])],
        ["p.parquet", parquet("emb", rows)],
      ];
      for (const [name, content] of files) {
        const path = join(folder, name);
        await Bun.write(path, content);
        const read = await loadVectors(path, { dimension });
        expect([name, read.rows, read.dimension]).toEqual([name, rows.length, dimension]);
        expect(bytesOf(read.values), name).toEqual(bytesOf(flat));
      }
    }),
    { numRuns: 40 },
  );
});

test("true neighbours that were written as .ivecs are read as they were", async () => {
  const path = join(temporaryFolder("vectors"), "p.ivecs");
  const lists = fc.integer({ min: 1, max: 9 }).chain((length) => {
    const row = fc.array(fc.nat(), { minLength: length, maxLength: length });
    return fc.array(row, { minLength: 1, maxLength: 9 });
  });
  await fc.assert(
    fc.asyncProperty(lists, async (rows) => {
      await Bun.write(
        path,
        withLengths(rows, (row) => Buffer.from(Int32Array.from(row).buffer)),
      );
      expect(readNeighbours(path).map((row) => Array.from(row))).toEqual(rows);
    }),
    { numRuns: 40 },
  );
});

test("a column of a Parquet file is found by a usual name, or by the given one", async () => {
  const path = join(temporaryFolder("vectors"), "a.parquet");
  await Bun.write(path, parquet("features", [[1, 2]]));
  expect((await loadVectors(path, { dimension: 0, column: "features" })).values).toEqual(
    Float32Array.of(1, 2),
  );
  await expect(loadVectors(path, { dimension: 0 })).rejects.toThrow(
    "has no column emb, embedding, vector, only id, features",
  );
  await expect(loadVectors(path, { dimension: 0, column: "id" })).rejects.toThrow("not a list");
  await Bun.write(path, parquet("emb", [[1, 2], [3]]));
  await expect(loadVectors(path, { dimension: 0 })).rejects.toThrow("row 1 of emb");
});

test("files with rows of unequal or no length are refused", () => {
  const folder = temporaryFolder("vectors");
  const bad: [string, Int32Array][] = [
    ["uneven.ivecs", Int32Array.of(1, 7, 2, 7)],
    ["empty.ivecs", Int32Array.of()],
    ["negative.ivecs", Int32Array.of(-1, 7)],
    ["zero.ivecs", Int32Array.of(0, 0)],
  ];
  for (const [name, content] of bad) {
    const path = join(folder, name);
    writeFileSync(path, bytesOf(content));
    expect(() => readNeighbours(path), name).toThrow("does not have rows of equal length");
  }
  expect(() => readNeighbours(join(folder, "a.npy"))).toThrow("is not an .ivecs file");
});

test("vectors are padded to the next dimension that an index can have", () => {
  const values = Float32Array.from({ length: 2 * 800 }, (_, i) => i + 1);
  const wide = padded({ rows: 2, dimension: 800, values });
  expect(wide.dimension).toBe(1_024);
  expect(Array.from(wide.values.subarray(1_024, 1_824))).toEqual(Array.from(values.subarray(800)));
  expect(wide.values[800]).toBe(0);
});
