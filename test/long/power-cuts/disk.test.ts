import { describe, expect, test } from "bun:test";
import { randomNumbers } from "../../../support/random.ts";
import { Disk } from "./disk/disk.ts";
import type { Draw, Loss } from "./disk/nodes.ts";
import type { Call } from "./disk/trace.ts";

const PAGE = 4_096;
const CUTS = 200;

/** A disk with a folder, and the calls of one process after the other. */
function newDisk() {
  const disk = new Disk("/disk");
  let line = 0;
  const run = (
    name: string,
    { strings = [], files = [], words = [], result = 0 }: Partial<Call>,
  ) => {
    const call = { name, start: ++line, end: 0, strings, files: [...files], words, result };
    disk.follow({ call, isEnd: false });
    call.end = ++line;
    disk.follow({ call, isEnd: true });
  };
  const path = (...names: string[]) => names.map((name) => Buffer.from(`/disk/${name}`));
  return {
    disk,
    create: (name: string, bytes: Buffer) => {
      run("openat", { strings: path(name), words: ["", "", "O_WRONLY|O_CREAT"], result: 3 });
      run("write", {
        files: [`/disk/${name}`],
        strings: [bytes],
        words: ["3<>"],
        result: bytes.length,
      });
    },
    sync: (name: string) => run("fsync", { files: [`/disk${name}`] }),
    rename: (from: string, to: string) => run("rename", { strings: path(from, to) }),
  };
}

/** Everything that cuts have left: of each file its contents, of all files at once. */
function leftBy(disk: Disk, files: Loss = "some", names: Loss = "some"): Map<string, Buffer>[] {
  const next = randomNumbers(1);
  const draw: Draw = (limit) => Math.floor(next() * limit);
  return Array.from({ length: CUTS }, () => {
    const remains = disk.afterCut({ files, names, draw });
    return new Map([...remains].map(([path, file]) => [path, file?.bytes ?? Buffer.alloc(0)]));
  });
}

const [OLD, NEW] = [Buffer.alloc(3 * PAGE, "o"), Buffer.alloc(3 * PAGE, "n")];

describe("a power cut", () => {
  test("leaves what was synced under a name that was synced", () => {
    const { disk, create, sync } = newDisk();
    create("a", OLD);
    sync("/a");
    sync("");
    for (const left of leftBy(disk)) expect(left.get("a")).toEqual(OLD);
  });

  test("takes the name of a file whose folder was not synced", () => {
    const { disk, create, sync } = newDisk();
    create("a", OLD);
    sync("/a");
    expect(new Set(leftBy(disk).map((left) => left.has("a")))).toEqual(new Set([true, false]));
  });

  test("tears what was not synced, page by page", () => {
    const { disk, create, sync } = newDisk();
    create("a", OLD);
    sync("");
    const torn = leftBy(disk).map((left) => left.get("a") as Buffer);
    expect(torn.some((bytes) => bytes.length === OLD.length && bytes.includes(0))).toBe(true);
    expect(torn.some((bytes) => bytes.length === 0)).toBe(true);
    expect(torn.some((bytes) => bytes.equals(OLD))).toBe(true);
  });

  test("leaves the old or the new file where one replaces the other, and a torn one where it was not synced", () => {
    const replaced = (isSynced: boolean) => {
      const { disk, create, sync, rename } = newDisk();
      create("a", OLD);
      sync("/a");
      sync("");
      create("a.new", NEW);
      if (isSynced) sync("/a.new");
      rename("a.new", "a");
      return leftBy(disk).map((left) => left.get("a") as Buffer);
    };
    const isWhole = (bytes: Buffer) => bytes.equals(OLD) || bytes.equals(NEW);
    expect(replaced(true).every(isWhole)).toBe(true);
    expect(replaced(true).some((bytes) => bytes.equals(NEW))).toBe(true);
    expect(replaced(true).some((bytes) => bytes.equals(OLD))).toBe(true);
    expect(replaced(false).every(isWhole)).toBe(false);
  });

  test("loses everything that was not synced, at worst", () => {
    const { disk, create, sync } = newDisk();
    create("a", OLD);
    sync("");
    expect(leftBy(disk, "all", "all")[0]).toEqual(new Map([["a", Buffer.alloc(0)]]));
  });
});
