import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checksum } from "../../../../native/index.ts";
import type { PartWriter } from "../../../../src/index/snapshots/parts.ts";
import { SnapshotStore } from "../../../../src/index/snapshots/snapshot-store.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { ORIGIN } from "../saved.ts";

const PROJECT = randomUUID();

/** An index with these parts. */
const indexOf = (name: string, parts: Readonly<Record<string, string>>) => ({
  name,
  snapshot: (_: string, writer: PartWriter) =>
    Promise.all(Object.entries(parts).map(([part, text]) => writer.write(part, Buffer.from(text)))),
});

const broken = { name: "broken", snapshot: () => Promise.reject(new Error("disk full")) };

function openStore() {
  const root = temporaryFolder("snapshots");
  const store = new SnapshotStore(root);
  const folder = join(root, PROJECT);
  const files = () => readdirSync(folder).sort();
  const contents = (name: string) => readFileSync(join(folder, name), "utf8");
  return { store, folder, files, contents };
}

test("a snapshot consists of its manifest and the parts that it names", async () => {
  const { store, files } = openStore();
  expect(store.read(PROJECT)).toBeNull();
  await store.write(PROJECT, ORIGIN, [indexOf("a", { one: "1", two: "22" }), indexOf("b", {})]);
  expect(files()).toEqual(["manifest.json", "one", "two"]);
  const part = (name: string, text: string) => {
    return { name, bytes: text.length, checksum: checksum(Buffer.from(text)) };
  };
  expect(store.read(PROJECT)).toMatchObject({
    ...ORIGIN,
    parts: { a: [part("one", "1"), part("two", "22")], b: [] },
  });
});

test("a part of the earlier snapshot is not written again, unless its file is missing or short", async () => {
  const { store, folder, contents } = openStore();
  const index = indexOf("a", { kept: "kept", lost: "lost", short: "short" });
  await store.write(PROJECT, ORIGIN, [index]);
  const { ino } = statSync(join(folder, "kept"));
  rmSync(join(folder, "lost"));
  writeFileSync(join(folder, "short"), "");
  await store.write(PROJECT, ORIGIN, [index]);
  expect(statSync(join(folder, "kept")).ino).toBe(ino);
  expect([contents("lost"), contents("short")]).toEqual(["lost", "short"]);
});

test("a file that no manifest names is not taken for a part that was written", async () => {
  const { store, folder, contents } = openStore();
  mkdirSync(folder);
  writeFileSync(join(folder, "part"), "torn");
  await store.write(PROJECT, ORIGIN, [indexOf("a", { part: "good" })]);
  expect(contents("part")).toBe("good");
});

test("parts that a snapshot no longer names are removed", async () => {
  const { store, folder, files } = openStore();
  await store.write(PROJECT, ORIGIN, [indexOf("a", { one: "1", two: "2" })]);
  mkdirSync(join(folder, "folder"));
  writeFileSync(join(folder, "folder", "file"), "");
  await store.write(PROJECT, ORIGIN, [indexOf("a", { two: "2", three: "3" })]);
  expect(files()).toEqual(["manifest.json", "three", "two"]);
});

test("a snapshot that fails leaves the earlier one, and nothing of its own", async () => {
  const { store, files } = openStore();
  await expect(store.write(PROJECT, ORIGIN, [indexOf("a", { one: "1" }), broken])).rejects.toThrow(
    "disk full",
  );
  expect([files(), store.read(PROJECT)]).toEqual([[], null]);
  await store.write(PROJECT, ORIGIN, [indexOf("a", { one: "1" })]);
  const before = store.read(PROJECT);
  const later = { ...ORIGIN, seq: ORIGIN.seq + 1 };
  await expect(store.write(PROJECT, later, [indexOf("a", { two: "2" }), broken])).rejects.toThrow(
    "disk full",
  );
  expect(files()).toEqual(["manifest.json", "one"]);
  expect(store.read(PROJECT)).toEqual(before);
});
