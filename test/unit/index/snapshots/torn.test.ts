import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { TextIndex } from "../../../../src/index/text/text-index.ts";
import { VectorIndex } from "../../../../src/index/vector/vector-index.ts";
import type { VersionIndex } from "../../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

const PROJECT = "torn";
const INDEXES: ReadonlyArray<readonly [name: string, open: () => VersionIndex]> = [
  ["vector", () => new VectorIndex(PLAIN_NAMES)],
  ["text", () => new TextIndex(() => {})],
  ["fields", () => new FieldIndex()],
];

test.each(INDEXES)(
  "the snapshot of the index %s is refused by a manifest that names later changes, as in a torn copy",
  async (_, open) => {
    const folder = temporaryFolder("torn");
    const index = open();
    index.openProject(PROJECT, new VersionTable());
    await index.snapshot(PROJECT, folder, 5);
    index.dropProject(PROJECT);
    const later = open();
    const restored = (seq: number) => later.restore(PROJECT, new VersionTable(), folder, seq);
    await expect(restored(6)).rejects.toThrow("it holds changes up to 5");
    expect(later.stats(PROJECT)).toEqual([]);
    // A crash between the indexes and the manifest leaves an older manifest.
    for (const seq of [5, 4]) {
      expect(await restored(seq)).toBe(true);
      later.dropProject(PROJECT);
    }
  },
);

test("fields with a flipped bit anywhere are refused", async () => {
  const folder = temporaryFolder("torn");
  const index = new FieldIndex();
  const table = new VersionTable();
  index.openProject(PROJECT, table);
  table.setScope("scope", table.setOf([]));
  await index.snapshot(PROJECT, folder, 5);
  const file = join(folder, "fields.ndjson");
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at++) {
    writeFileSync(file, whole.with(at, (whole[at] as number) ^ 0x01));
    const restoring = new FieldIndex().restore(PROJECT, new VersionTable(), folder, 0);
    await expect(restoring, `byte ${at}`).rejects.toThrow();
  }
});
