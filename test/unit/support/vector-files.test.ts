import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

function parquet(name: string, rows: readonly (readonly number[])[]): Uint8Array {
  const data = rows.map((row) => [...row]);
  const ids = rows.map((_, i) => BigInt(i));
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "id", data: ids, type: "INT64" },
        { name, data },
      ],
    }),
  );
}

test("true neighbours are read from .ivecs, in rows of one length", () => {
  const folder = temporaryFolder("vectors");
  const written = (name: string, ...numbers: number[]) => {
    writeFileSync(join(folder, name), bytesOf(Int32Array.from(numbers)));
    return join(folder, name);
  };
  const good = readNeighbours(written("good.ivecs", 2, 7, 2 ** 31 - 1, 2, 0, 9));
  expect(good.map((row) => [...row])).toEqual([
    [7, 2 ** 31 - 1],
    [0, 9],
  ]);
  for (const numbers of [[1, 7, 2, 7], [], [-1, 7], [0, 0]]) {
    expect(() => readNeighbours(written("bad.ivecs", ...numbers))).toThrow(
      "bad.ivecs does not have rows of equal length",
    );
  }
  expect(() => readNeighbours(written("a.npy"))).toThrow("is not an .ivecs file");
});

test("a column of a Parquet file is found by a usual name, or by the given one", async () => {
  const path = join(temporaryFolder("vectors"), "a.parquet");
  const rows = Array.from({ length: ROWS }, (_, i) =>
    VALUES.slice(i * DIMENSION).slice(0, DIMENSION),
  );
  await Bun.write(path, parquet("embedding", rows));
  expect((await loadVectors(path, { dimension: 0 })).values).toEqual(floats);
  await Bun.write(path, parquet("features", rows));
  expect((await loadVectors(path, { dimension: 0, column: "features" })).values).toEqual(floats);
  await expect(loadVectors(path, { dimension: 0 })).rejects.toThrow(
    "has no column emb, embedding, vector, only id, features",
  );
  await expect(loadVectors(path, { dimension: 0, column: "id" })).rejects.toThrow("not a list");
  await Bun.write(path, parquet("emb", [[1, 2], [3]]));
  await expect(loadVectors(path, { dimension: 0 })).rejects.toThrow("row 1 of emb");
});

test("vectors are padded to the next dimension that an index can have", () => {
  const values = Float32Array.from({ length: 2 * 800 }, (_, i) => i + 1);
  const wide = padded({ rows: 2, dimension: 800, values });
  expect(wide.dimension).toBe(1_024);
  expect(Array.from(wide.values.subarray(1_024, 1_824))).toEqual(Array.from(values.subarray(800)));
  expect(wide.values[800]).toBe(0);
});
