import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/folders.ts";
import { padded, readVectors } from "../../../support/vector-files.ts";

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

test("vectors are padded to the next dimension that an index can have", () => {
  const values = Float32Array.from({ length: 2 * 800 }, (_, i) => i + 1);
  const wide = padded({ rows: 2, dimension: 800, values });
  expect(wide.dimension).toBe(1_024);
  expect(Array.from(wide.values.subarray(1_024, 1_824))).toEqual(Array.from(values.subarray(800)));
  expect(wide.values[800]).toBe(0);
});
