import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PIECE_BYTES } from "../../../../src/indexing/copies/copy-manifest.ts";
import { CopyWork } from "../../../../src/indexing/copies/copy-task.ts";
import { UploadQueue } from "../../../../src/indexing/copies/upload-queue.ts";
import { INDEX_COPY_INTERVAL_MS } from "../../../../src/shared/limits.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

const HOUR_MS = 3_600_000;
const PROJECT = { databaseId: "database", projectId: "project" };
const POSITION = { anchor: { seq: 3, at: "now" }, seq: 2 };

describe("the copy of a snapshot", () => {
  let place: string;
  let snapshot: string;
  let work: CopyWork;
  beforeEach(() => {
    place = temporaryFolder("copies");
    snapshot = temporaryFolder("snapshot");
    work = new CopyWork({ folder: place });
    writeFileSync(join(snapshot, "manifest.json"), "{}");
  });
  afterEach(() => {
    setSystemTime();
  });

  const write = (name: string, bytes: Uint8Array) => writeFileSync(join(snapshot, name), bytes);
  const publish = (by = work) =>
    by.run({ type: "publish", ...PROJECT, directory: snapshot, position: POSITION });
  const fetchTo = (directory: string) => work.run({ type: "fetch", ...PROJECT, directory });
  const objects = () => readdirSync(join(place, "database", "project")).sort();

  test("has the same files, also empty ones and those of several pieces", async () => {
    write("large", new Uint8Array(2 * PIECE_BYTES + 1).fill(7));
    write("empty", new Uint8Array());
    expect((await publish()).failure).toBeUndefined();
    const target = join(temporaryFolder("fetched"), "new");
    expect(await fetchTo(target)).toMatchObject({ found: true });
    expect(readdirSync(target).sort()).toEqual(readdirSync(snapshot).sort());
    for (const name of readdirSync(snapshot)) {
      const [copied, own] = [readFileSync(join(target, name)), readFileSync(join(snapshot, name))];
      expect(copied.equals(own)).toBe(true);
    }
  });

  test("is uploaded again only as far as it has changed, also by another node", async () => {
    write("same", new Uint8Array(1_000).fill(1));
    write("changed", new Uint8Array(1_000).fill(2));
    expect((await publish()).bytes).toBeGreaterThan(2_000);
    expect((await publish()).bytes).toBe(0);
    write("changed", new Uint8Array(1_001).fill(3));
    expect((await publish(new CopyWork({ folder: place }))).bytes).toBe(1_001);
  });

  test("keeps what it does not need any more for those who have begun to read, and deletes it later", async () => {
    write("changed", new Uint8Array(1_000).fill(2));
    await publish();
    const before = objects();
    write("changed", new Uint8Array(1_001).fill(3));
    await publish();
    expect(objects()).toEqual(expect.arrayContaining(before));
    setSystemTime(Date.now() + 3 * HOUR_MS);
    await publish();
    expect(objects()).toEqual(expect.arrayContaining(before));
    setSystemTime(Date.now() + 2 * HOUR_MS);
    await publish();
    expect(objects()).toHaveLength(before.length);
  });

  test("relies on no piece that is to be deleted", async () => {
    write("file", new Uint8Array(1_000).fill(1));
    await publish();
    write("file", new Uint8Array(1_000).fill(2));
    await publish();
    write("file", new Uint8Array(1_000).fill(1));
    expect((await publish(new CopyWork({ folder: place }))).bytes).toBe(1_000);
    setSystemTime(Date.now() + 5 * HOUR_MS);
    await publish();
    expect(await fetchTo(join(temporaryFolder("fetched"), "new"))).toMatchObject({ found: true });
  });

  test("never writes outside of its directory, whatever its manifest says", async () => {
    write("file", new Uint8Array(10));
    const path = join(place, "database", "project", "manifest.json");
    for (const outside of ["../file", "/tmp/file", "a/../../file", ".file"]) {
      await publish();
      const [, text = ""] = readFileSync(path, "utf8").split("\n");
      const changed = text.replace('"file"', JSON.stringify(outside));
      const sum = new Bun.CryptoHasher("sha256").update(changed).digest("hex");
      writeFileSync(path, `${sum}\n${changed}`);
      const result = await fetchTo(join(temporaryFolder("fetched"), "new"));
      expect(result.failure).toMatchObject({ kind: "damaged" });
    }
  });

  test("of another version is left alone and not used", async () => {
    await publish();
    const path = join(place, "database", "project", "manifest.json");
    const [, text = ""] = readFileSync(path, "utf8").split("\n");
    const changed = text.replace(/"formats":"[^"]*"/, '"formats":"999"');
    const sum = new Bun.CryptoHasher("sha256").update(changed).digest("hex");
    writeFileSync(path, `${sum}\n${changed}`);
    expect(await fetchTo(join(temporaryFolder("fetched"), "new"))).toMatchObject({ found: false });
    expect(objects()).toContain("manifest.json");
  });
});

test("uploads of a project are repeated after a failure, and otherwise once per interval", async () => {
  const uploaded: string[] = [];
  let works = false;
  const queue = new UploadQueue(async (id) => {
    uploaded.push(id);
    return works;
  });
  const now = performance.now();
  queue.add("a", true);
  queue.begin(now);
  await Bun.sleep(0);
  queue.begin(now + 1_000);
  expect(uploaded).toEqual(["a"]);
  works = true;
  queue.begin(now + INDEX_COPY_INTERVAL_MS / 2);
  await Bun.sleep(0);
  expect(uploaded).toEqual(["a", "a"]);
  queue.add("a", true);
  queue.begin(now + INDEX_COPY_INTERVAL_MS / 2);
  expect(uploaded).toHaveLength(2);
  queue.begin(now + 2 * INDEX_COPY_INTERVAL_MS);
  expect(uploaded).toHaveLength(3);
});
