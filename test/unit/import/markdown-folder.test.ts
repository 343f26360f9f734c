import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findMarkdown, readMarkdown } from "../../../src/import/markdown/folder.ts";
import { Reporter } from "../../../src/import/reporter.ts";
import { temporaryFolder } from "../../../support/folders.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("markdown");
});

const write = (name: string | Uint8Array, content = "text") => {
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
  writeFileSync(path, content);
};

describe("a folder of Markdown", () => {
  test("with links in circles is walked once, and every link is named", () => {
    mkdirSync(join(folder, "docs"));
    write("docs/a.md");
    symlinkSync("..", join(folder, "docs", "up"));
    symlinkSync("self.md", join(folder, "self.md"));
    symlinkSync("nowhere", join(folder, "gone.md"));
    symlinkSync("/etc/hostname", join(folder, "other.txt"));
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["docs/a.md"]);
    expect(found.refused.map(({ path }) => path).sort()).toEqual(["docs/up", "gone.md", "self.md"]);
    for (const { reason } of found.refused) expect(reason).toContain("symbolic link");
  });

  test("names files and folders whose names are not UTF-8, and goes on", () => {
    write(Buffer.from([0x62, 0xff, 0x2e, 0x6d, 0x64]));
    const hidden = Buffer.concat([Buffer.from(`${folder}/d`), Buffer.from([0xfe])]);
    mkdirSync(hidden);
    writeFileSync(Buffer.concat([hidden, Buffer.from("/in.md")]), "text");
    write("honest-\ufffd.md");
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["honest-\ufffd.md"]);
    expect(found.refused).toHaveLength(2);
    for (const { reason } of found.refused) expect(reason).toContain("not valid UTF-8");
  });

  test("never waits for a pipe, and takes a folder for one whatever its name", async () => {
    expect(await Bun.spawn(["mkfifo", join(folder, "pipe.md")]).exited).toBe(0);
    mkdirSync(join(folder, "folder.md"));
    write("folder.md/in.md");
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["folder.md/in.md"]);
    expect(found.refused).toEqual([{ path: "pipe.md", reason: "is no regular file" }]);
  });

  test("lists its files in byte order", () => {
    for (const name of ["b.md", "B.md", "é.md", "a-b.md", "a.md", "𝒳.md", "\uff5e.md"]) write(name);
    const { paths } = findMarkdown(folder);
    expect(paths).toEqual(
      [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(paths).toHaveLength(7);
  });

  test("tells of a file that went away or cannot be read", () => {
    write("a.md");
    rmSync(join(folder, "a.md"));
    expect(() => readMarkdown(folder, "a.md")).toThrow("cannot be read: ENOENT");
    mkdirSync(join(folder, "b.md"));
    expect(() => readMarkdown(folder, "b.md")).toThrow("cannot be read: EISDIR");
  });
});

describe("a report of refused files", () => {
  test("is one line each, whatever the files are called", () => {
    const written: string[] = [];
    const { write: original } = process.stderr;
    process.stderr.write = ((text: string) => written.push(text) > 0) as never;
    try {
      new Reporter(1, "files", false).error("a\n\x1b[31m\u009b.md", "is no text");
    } finally {
      process.stderr.write = original;
    }
    expect(written).toEqual(["a??[31m?.md: is no text\n"]);
  });
});
