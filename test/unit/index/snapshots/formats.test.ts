import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as native from "../../../../native/index.ts";
import * as testing from "../../../../native/testing.ts";
import { wordTables } from "../../../../native/words.ts";
import { DISK_FORMATS, otherFormat, otherFormatIn } from "../../../../src/domain/disk-formats.ts";
import { FieldProject } from "../../../../src/index/fields/field-project.ts";
import { readFieldSnapshot } from "../../../../src/index/fields/field-snapshot.ts";
import { SnapshotStore } from "../../../../src/index/snapshots/snapshot-store.ts";
import { TextIndex } from "../../../../src/index/text/text-index.ts";
import { VectorIndex } from "../../../../src/index/vector/vector-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { PLAIN_NAMES } from "../plain-names.ts";
import { membersOf, tableOf } from "../tables.ts";

const PROJECT = "0b0e7f4c-52a1-4a52-9b35-6f0f4c1e2d3a";
const ANOTHER_VERSION = 99;
const ANOTHER_UNICODE = "99.0 0123abcd";

function rewrite(path: string, change: (bytes: Buffer<ArrayBuffer>) => Uint8Array): void {
  writeFileSync(path, change(readFileSync(path)));
}

const ofAnotherFormat = (text: string) =>
  text.replace(/"format":\d+/, `"format":${ANOTHER_VERSION}`);

/** Changes the text of a manifest of texts, and its checksum accordingly. */
function rewriteManifest(folder: string, change: (text: string) => string): void {
  rewrite(join(folder, "text.json"), (bytes) => {
    const changed = change(bytes.toString().split("\n")[1] ?? "");
    return Buffer.from(`${Bun.hash.crc32(changed).toString(16).padStart(8, "0")}\n${changed}`);
  });
}

async function textSnapshot(): Promise<string> {
  const folder = temporaryFolder("format");
  const index = new TextIndex(() => {});
  const table = tableOf("version");
  index.openProject(PROJECT, table);
  await index.add(PROJECT, ["version"], {
    async *chunks() {},
    async *documents() {
      yield [{ file_version_id: "version", path: "a.md", content: "# Title\n\nSome words." }];
    },
  } as never);
  index.setScope(PROJECT, "scope", membersOf(table, ["version"]));
  await index.snapshot(PROJECT, folder, 0);
  return folder;
}

const restored = (folder: string) =>
  new TextIndex(() => {}).restore(PROJECT, new VersionTable(), folder, 0);

test("a vector snapshot whose version list has another format is refused and unloaded", async () => {
  const folder = temporaryFolder("format");
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT, new VersionTable());
  testing.snapshotSync(PROJECT, folder, Buffer.from(`{"format":${ANOTHER_VERSION}}`));
  index.dropProject(PROJECT);
  await expect(index.restore(PROJECT, new VersionTable(), folder, 0)).rejects.toThrow(
    otherFormat(ANOTHER_VERSION, DISK_FORMATS.vectorVersions),
  );
  expect(native.projects()).not.toContain(PROJECT);
});

test("a text snapshot whose manifest or segment has another format is refused", async () => {
  const manifest = await textSnapshot();
  rewriteManifest(manifest, ofAnotherFormat);
  await expect(restored(manifest)).rejects.toThrow(
    otherFormat(ANOTHER_VERSION, DISK_FORMATS.textManifest),
  );

  const segment = await textSnapshot();
  const name = readdirSync(segment).find((file) => file.endsWith(".segment")) as string;
  rewrite(join(segment, name), (bytes) => {
    expect(bytes.readUInt32LE(4)).toBe(DISK_FORMATS.textSegment);
    bytes.writeUInt32LE(ANOTHER_VERSION, 4);
    return bytes;
  });
  await expect(restored(segment)).rejects.toThrow(
    otherFormat(ANOTHER_VERSION, DISK_FORMATS.textSegment),
  );
});

test("a text snapshot whose words were read by other tables of characters is refused as one of another version", async () => {
  const folder = await textSnapshot();
  expect(await restored(folder)).toBe(true);
  rewriteManifest(folder, (text) => text.replace(wordTables, ANOTHER_UNICODE));
  const reason = otherFormat(ANOTHER_UNICODE, wordTables);
  await expect(restored(folder)).rejects.toThrow(reason);
  expect(otherFormatIn(`the text: ${reason}`)).toBe(reason);
});

test("a snapshot of the fields with another format is refused", async () => {
  const folder = temporaryFolder("format");
  writeFileSync(join(folder, "fields.ndjson"), `{"format":${ANOTHER_VERSION}}\n`);
  await expect(readFieldSnapshot(new FieldProject(), folder, 0)).rejects.toThrow(
    otherFormat(ANOTHER_VERSION, DISK_FORMATS.versionFields),
  );
});

test("a project manifest of another format is ignored", async () => {
  const root = temporaryFolder("format");
  const store = new SnapshotStore(root);
  store.prepare(PROJECT);
  const manifest = { databaseId: "d", anchor: { seq: 41, at: "" }, seq: 42 };
  await store.commit(PROJECT, manifest);
  expect(store.read(PROJECT)).toEqual(manifest);
  rewrite(join(root, PROJECT, "manifest.json"), (bytes) =>
    Buffer.from(ofAnotherFormat(bytes.toString())),
  );
  expect(store.read(PROJECT)).toBeNull();
});
