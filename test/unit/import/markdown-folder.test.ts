import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findMarkdown, readMarkdown } from "../../../src/import/markdown/folder.ts";
import { temporaryFolder } from "../../../support/folders.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("markdown");
});

const write = (name: string | Uint8Array, content = "text") => {
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
  writeFileSync(path, content);
};

describe("finding Markdown files", () => {
  test("does not follow symbolic links, even in a cycle, and reports each of them", () => {
    mkdirSync(join(folder, "docs"));
    write("docs/a.md");
    symlinkSync("..", join(folder, "docs", "up"));
    symlinkSync("self.md", join(folder, "self.md"));
    symlinkSync("nowhere", join(folder, "gone.md"));
    symlinkSync("/etc/hostname", join(folder, "other.txt"));
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["docs/a.md"]);
    expect(found.rejected.map(({ path }) => path).sort()).toEqual([
      "docs/up",
      "gone.md",
      "self.md",
    ]);
    for (const { reason } of found.rejected) expect(reason).toContain("symbolic link");
  });

  test("reports files and folders whose names are not UTF-8, and continues", () => {
    write(Buffer.from([0x62, 0xff, 0x2e, 0x6d, 0x64]));
    const hidden = Buffer.concat([Buffer.from(`${folder}/d`), Buffer.from([0xfe])]);
    mkdirSync(hidden);
    writeFileSync(Buffer.concat([hidden, Buffer.from("/in.md")]), "text");
    write("valid-\ufffd.md");
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["valid-\ufffd.md"]);
    expect(found.rejected).toHaveLength(2);
    for (const { reason } of found.rejected) expect(reason).toContain("not valid UTF-8");
  });

  test("rejects a pipe without waiting for it, and descends into a folder named like a file", async () => {
    expect(await Bun.spawn(["mkfifo", join(folder, "pipe.md")]).exited).toBe(0);
    mkdirSync(join(folder, "folder.md"));
    write("folder.md/in.md");
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["folder.md/in.md"]);
    expect(found.rejected).toEqual([{ path: "pipe.md", reason: "is not a regular file" }]);
  });

  test("returns paths in byte order", () => {
    for (const name of ["b.md", "B.md", "é.md", "a-b.md", "a.md", "𝒳.md", "\uff5e.md"]) write(name);
    const { paths } = findMarkdown(folder);
    expect(paths).toEqual(
      [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(paths).toHaveLength(7);
  });

  test("reports a file that was deleted or cannot be read", () => {
    write("a.md");
    rmSync(join(folder, "a.md"));
    expect(() => readMarkdown(folder, "a.md")).toThrow("cannot be read: ENOENT");
    mkdirSync(join(folder, "b.md"));
    expect(() => readMarkdown(folder, "b.md")).toThrow("cannot be read: EISDIR");
  });
});
