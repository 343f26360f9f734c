import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as native from "../../../native/index.ts";
import * as testing from "../../../native/testing.ts";
import { readFieldSnapshot } from "../../../src/indexing/fields/field-snapshot.ts";
import { DISK_FORMATS } from "../../../src/shared/disk-formats.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import {
  answersOf,
  MANIFEST,
  type Opened,
  openStored,
  PROJECT,
  storedAnswers,
} from "./stored-snapshot.ts";

const ANOTHER_VERSION = 99;

const vectorFolder = ({ store }: Opened) => store.directory(PROJECT, "vector");
const textFolder = ({ store }: Opened) => store.directory(PROJECT, "text");

function rewrite(path: string, change: (bytes: Buffer<ArrayBuffer>) => Uint8Array): void {
  writeFileSync(path, change(readFileSync(path)));
}

test("a stored snapshot of an earlier build opens and gives the answers it gave then", async () => {
  const stored = openStored();
  expect(stored.store.read(PROJECT)).toEqual(MANIFEST);
  expect(await stored.vector.restore(PROJECT, vectorFolder(stored))).toBe(true);
  expect(await stored.text.restore(PROJECT, textFolder(stored))).toBe(true);
  expect(answersOf(stored)).toEqual(storedAnswers());
  stored.vector.dropProject(PROJECT);
});

test("a vector snapshot whose version list has another format is refused and unloaded", async () => {
  const stored = openStored();
  testing.restoreSync(PROJECT, vectorFolder(stored));
  testing.snapshotSync(PROJECT, vectorFolder(stored), Buffer.from(`{"format":${ANOTHER_VERSION}}`));
  await expect(stored.vector.restore(PROJECT, vectorFolder(stored))).rejects.toThrow(
    `format version 99, this build reads ${DISK_FORMATS.vectorVersions}`,
  );
  expect(native.projects()).not.toContain(PROJECT);
});

test("a text snapshot whose manifest or segment has another format is refused", async () => {
  const manifest = openStored();
  rewrite(join(textFolder(manifest), "text.json"), (bytes) => {
    const [, text = ""] = bytes.toString().split("\n");
    const changed = text.replace(/"format":\d+/, `"format":${ANOTHER_VERSION}`);
    return Buffer.from(`${Bun.hash.crc32(changed).toString(16).padStart(8, "0")}\n${changed}`);
  });
  await expect(manifest.text.restore(PROJECT, textFolder(manifest))).rejects.toThrow(
    `format version 99, this build reads ${DISK_FORMATS.textManifest}`,
  );

  const segment = openStored();
  const folder = textFolder(segment);
  const name = readdirSync(folder).find((file) => file.endsWith(".segment")) as string;
  rewrite(join(folder, name), (bytes) => {
    expect(bytes.readUInt32LE(4)).toBe(DISK_FORMATS.textSegment);
    bytes.writeUInt32LE(ANOTHER_VERSION, 4);
    return bytes;
  });
  await expect(segment.text.restore(PROJECT, folder)).rejects.toThrow(
    `format version 99, this build reads ${DISK_FORMATS.textSegment}`,
  );
});

test("a snapshot of the fields with another format is refused", async () => {
  const folder = temporaryFolder("fields");
  writeFileSync(join(folder, "fields.ndjson"), `{"format":${ANOTHER_VERSION}}\n`);
  await expect(readFieldSnapshot(folder)).rejects.toThrow(
    `format version 99, this build reads ${DISK_FORMATS.versionFields}`,
  );
});

test("a project manifest of another format is ignored", () => {
  const stored = openStored();
  rewrite(join(stored.root, PROJECT, "manifest.json"), (bytes) =>
    Buffer.from(bytes.toString().replace(/"format":\d+/, `"format":${ANOTHER_VERSION}`)),
  );
  expect(stored.store.read(PROJECT)).toBeNull();
});
