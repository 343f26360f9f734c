import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { readRows, sizeOfTables } from "../../../src/import/tables/rows.ts";
import { temporaryFolder } from "../../../support/folders.ts";

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
