import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  findMarkdown,
  readText,
  skippedIn,
  unreadIn,
} from "../../../../src/documents/conversion/folder.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

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
    expect(found.files.map(({ file }) => file)).toEqual(["docs/a.md"]);
    expect([...found.links].sort()).toEqual(["docs/up", "gone.md", "self.md"]);
    expect(found.rejected).toEqual([]);
    symlinkSync("nowhere", join(folder, "e\u0301.pdf"));
    const { paths, below } = unreadIn(findMarkdown(folder, { pdf: true }));
    expect(paths.sort()).toEqual(["docs/up.txt", "gone.md", "self.md", "\u00e9.pdf.md"]);
    expect(below).toContain("docs/up/");
  });

  test("counts what else a folder has, by extension", () => {
    for (const name of ["a.md", "a.PNG", "b.png", "x.css", "LICENSE", ".hidden", "~$a.docx"])
      write(name);
    symlinkSync("a.md", join(folder, "link.md"));
    expect(skippedIn(findMarkdown(folder))).toEqual([
      "symbolic links are not followed: link.md",
      "other files are left out: 2 .png, 1 .css, 1 without extension (--text)",
    ]);
    for (let i = 0; i < 9; i++) write(`file.x${i}`);
    expect(skippedIn(findMarkdown(folder))[1]).toEndWith(", and 7 more");
  });

  test("names the first byte that is not UTF-8", async () => {
    write("a.md", Buffer.from("é\ufffd"));
    write("b.md", Buffer.concat([Buffer.from("é\ufffdx"), Buffer.from([0xff])]));
    expect((await readText(folder, "a.md")).text).toBe("é\ufffd");
    await expect(readText(folder, "b.md")).rejects.toThrow("is not valid UTF-8 at byte 6");
  });

  test("reports files and folders whose names are not UTF-8, and continues", () => {
    write(Buffer.from([0x62, 0xff, 0x2e, 0x6d, 0x64]));
    const hidden = Buffer.concat([Buffer.from(`${folder}/d`), Buffer.from([0xfe])]);
    mkdirSync(hidden);
    writeFileSync(Buffer.concat([hidden, Buffer.from("/in.md")]), "text");
    write("valid-\ufffd.md");
    const found = findMarkdown(folder);
    expect(found.files.map(({ file }) => file)).toEqual(["valid-\ufffd.md"]);
    expect(found.rejected).toHaveLength(2);
    for (const { reason } of found.rejected) expect(reason).toContain("not valid UTF-8");
  });

  test("rejects a pipe without waiting for it, and descends into a folder named like a file", async () => {
    expect(await Bun.spawn(["mkfifo", join(folder, "pipe.md")]).exited).toBe(0);
    mkdirSync(join(folder, "folder.md"));
    write("folder.md/in.md");
    const found = findMarkdown(folder);
    expect(found.files.map(({ file }) => file)).toEqual(["folder.md/in.md"]);
    expect(found.rejected).toEqual([{ path: "pipe.md", reason: "is not a regular file" }]);
  });

  test("names folders that cannot be read, and finds the files of others", () => {
    const start = join(folder, "a");
    let deep = start;
    while (deep.length < 4_000) deep = join(deep, "d".repeat(Math.min(200, 4_040 - deep.length)));
    mkdirSync(deep, { recursive: true });
    write("fine.md");
    // Its lowest folders have names that are too long for the system.
    const long = join(folder, "b".repeat(200));
    renameSync(start, long);
    try {
      const { files, rejected } = findMarkdown(folder);
      expect(files.map(({ file }) => file)).toEqual(["fine.md"]);
      expect(rejected).toEqual([
        { path: expect.stringMatching(/^b+\/d/), reason: "cannot be read: ENAMETOOLONG" },
      ]);
      expect(unreadIn({ rejected }).below).toEqual([`${rejected[0]?.path}/`]);
    } finally {
      renameSync(long, start);
    }
    expect(() => findMarkdown(join(folder, "none"))).toThrow("none cannot be read: no such folder");
  });

  test("returns paths in byte order", () => {
    for (const name of ["b.md", "B.md", "é.md", "a-b.md", "a.md", "𝒳.md", "\uff5e.md"]) write(name);
    const paths = findMarkdown(folder).files.map(({ file }) => file);
    expect(paths).toEqual(
      [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(paths).toHaveLength(7);
  });

  test("gives each file a path of its own, whatever it is converted from", () => {
    for (const name of ["page.html", "page.html.md", "LICENSE", "LICENSE.txt", "a.adoc", "b.txt"]) {
      write(name);
    }
    const { files } = findMarkdown(folder, { html: true, asciidoc: true, text: true });
    expect(Object.fromEntries(files.map(({ file, path }) => [file, path]))).toEqual({
      "page.html": "page.html.md.md",
      "page.html.md": "page.html.md",
      "a.adoc": "a.adoc.md",
      LICENSE: "LICENSE.txt.txt",
      "LICENSE.txt": "LICENSE.txt",
      "b.txt": "b.txt",
    });
  });

  test("names one of two files whose names differ only in how a letter is written", () => {
    for (const name of ["cafe\u0301.md", "caf\u00e9.md"]) write(name);
    const { files, rejected } = findMarkdown(folder);
    expect(files.map(({ path }) => path)).toEqual(["caf\u00e9.md"]);
    expect(rejected.map(({ reason }) => reason)).toEqual([expect.stringContaining("another file")]);
  });

  test("reports a file that was deleted or cannot be read", async () => {
    write("a.md");
    rmSync(join(folder, "a.md"));
    await expect(readText(folder, "a.md")).rejects.toThrow("cannot be read: ENOENT");
    mkdirSync(join(folder, "b.md"));
    await expect(readText(folder, "b.md")).rejects.toThrow("cannot be read: EISDIR");
  });

  test.each(["a.md", "a.txt", "LICENSE", "a.html", "a.adoc", "a.pdf", "a.docx"])(
    "refuses a file that is too large by its size, without reading it: %s",
    async (name) => {
      write(name);
      // More than can be read: it takes no place on the disk.
      truncateSync(join(folder, name), 2 ** 33);
      await expect(readText(folder, name)).rejects.toThrow(/^has more than \d+ bytes/);
    },
  );
});
