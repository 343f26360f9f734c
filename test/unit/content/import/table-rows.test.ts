import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { readRows, sizeOfTables } from "../../../../src/content/import/tables/rows.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

const folder = temporaryFolder("rows");
const ids = Array.from({ length: 3_000 }, (_, i) => `id-${i}`);
const lines = ids.map((id) => `${JSON.stringify({ id })}\n`).join("");
const columns = { columnData: [{ name: "id", data: ids }] };
const FILES = {
  "rows.parquet": new Uint8Array(parquetWriteBuffer(columns)),
  "rows.jsonl": Buffer.from(lines),
  "rows.jsonl.gz": gzipSync(lines),
};

test.each(Object.entries(FILES))(
  "the progress of reading %s ends at its size",
  async (name, bytes) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    const { size } = statSync(file);
    expect(await sizeOfTables([file, file])).toBe(2 * size);
    let read = 0;
    let count = 0;
    const onRead = (bytes: number) => {
      read += bytes;
    };
    for await (const rows of readRows(file, onRead)) {
      count += rows.length;
      expect(read).toBeLessThanOrEqual(size + 0.001);
    }
    expect(count).toBe(ids.length);
    expect(read).toBeCloseTo(size, 3);
  },
);

/** The rows of JSON lines with these bytes. */
async function rowsOf(name: string, bytes: Uint8Array | string) {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  const read = await Array.fromAsync(readRows(file, () => {}));
  return read.flat().map(({ values }) => values);
}

test("integers that no double holds are different texts, as those of Parquet are", async () => {
  const lines = [9007199254740993n, 9007199254740992n, -1745678901234567890n, 42n];
  const rows = await rowsOf("long.jsonl", lines.map((id) => `{"id":${id}}\n`).join(""));
  expect(rows).toEqual([
    ...[{ id: "9007199254740993" }, { id: "9007199254740992" }],
    ...[{ id: "-1745678901234567890" }, { id: 42 }],
  ]);
});

test("a byte order mark belongs to no row, and a row that is not UTF-8 is refused by itself", async () => {
  const rows = await rowsOf(
    "marked.jsonl",
    Buffer.concat([
      ...[Buffer.from('\ufeff{"id":1}\n'), Buffer.from('{"id":"\xff"}\n', "latin1")],
      Buffer.from('{"id":3}\n'),
    ]),
  );
  expect(rows).toEqual([{ id: 1 }, { reason: "is not valid UTF-8" }, { id: 3 }]);
});

test("a Parquet file whose footer counts more rows than it has is refused, not read on for ever", async () => {
  // Counts in a footer are zigzag varints: 3,000 and 8,191, which has as many bytes.
  const [count, more] = [Buffer.from([0xf0, 0x2e]), Buffer.from([0xfe, 0x7f])];
  const bytes = Buffer.from(FILES["rows.parquet"]);
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  let refused = 0;
  for (let at = bytes.indexOf(count, footer); at >= 0; at = bytes.indexOf(count, at + 1)) {
    const forged = Buffer.from(bytes);
    more.copy(forged, at);
    const rows = await rowsOf("forged.parquet", forged).catch((error: Error) => error);
    if (rows instanceof Error) {
      expect(rows.message).toContain("forged.parquet cannot be read as Parquet");
      refused++;
    } else expect(rows).toHaveLength(ids.length);
  }
  expect(refused).toBeGreaterThan(0);
});
