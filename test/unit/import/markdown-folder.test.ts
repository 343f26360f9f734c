import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findMarkdown, readMarkdown, skippedIn } from "../../../src/import/markdown/folder.ts";
import { temporaryFolder } from "../../../support/folders.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("markdown");
});

const write = (name: string | Uint8Array, content: string | Buffer = "text") => {
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
  writeFileSync(path, content);
};

describe("finding Markdown files", () => {
  test("does not follow symbolic links, even in a cycle, and names them", () => {
    mkdirSync(join(folder, "docs"));
    write("docs/a.md");
    symlinkSync("..", join(folder, "docs", "up"));
    symlinkSync("self.md", join(folder, "self.md"));
    symlinkSync("nowhere", join(folder, "gone.md"));
    symlinkSync("/etc/hostname", join(folder, "other.txt"));
    const found = findMarkdown(folder);
    expect(found.paths).toEqual(["docs/a.md"]);
    expect([...found.links].sort()).toEqual(["docs/up", "gone.md", "self.md"]);
    expect(found.rejected).toEqual([]);
  });

  test("counts what else a folder has, by extension", () => {
    for (const name of ["a.md", "a.PNG", "b.png", "x.css", "LICENSE", ".hidden"]) write(name);
    symlinkSync("a.md", join(folder, "link.md"));
    expect(skippedIn(findMarkdown(folder))).toEqual([
      "symbolic links are not followed: link.md",
      "other files are left out: 2 .png, 1 .css, 1 no extension",
    ]);
    for (let i = 0; i < 9; i++) write(`file.x${i}`);
    expect(skippedIn(findMarkdown(folder))[1]).toEndWith(", and 7 more");
  });

  test("names the first byte that is not UTF-8", () => {
    write("a.md", Buffer.from("é\ufffd"));
    write("b.md", Buffer.concat([Buffer.from("é\ufffdx"), Buffer.from([0xff])]));
    expect(readMarkdown(folder, "a.md")).toBe("é\ufffd");
    expect(() => readMarkdown(folder, "b.md")).toThrow("is not valid UTF-8 at byte 6");
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
