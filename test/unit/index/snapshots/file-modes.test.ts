import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimInstanceDirectory } from "../../../../src/index/snapshots/instance-directory.ts";
import { SnapshotStore } from "../../../../src/index/snapshots/snapshot-store.ts";
import { TextIndex } from "../../../../src/index/text/text-index.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { ORIGIN } from "../saved.ts";
import { membersOf, tableOf } from "../tables.ts";

const before = process.umask();
// The most permissive mask: nothing but the code itself makes the files private.
beforeAll(() => void process.umask(0));
afterAll(() => void process.umask(before));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("only the owner can read the files and folders of a snapshot", async () => {
  const dataDir = temporaryFolder("modes");
  // Left by a version that did not set modes.
  mkdirSync(join(dataDir, "index", "slot-0"), { recursive: true });
  const directory = claimInstanceDirectory(dataDir);
  const store = new SnapshotStore(directory.path);
  const project = randomUUID();
  const index = new TextIndex(() => {});
  const table = tableOf("version");
  index.openProject(project, table);
  await index.add(project, ["version"], {
    async *chunks() {},
    async *documents() {
      yield [{ file_version_id: "version", path: "a.md", content: "# Title\n\nSome words." }];
    },
  } as never);
  index.setScope(project, "scope", membersOf(table, ["version"]));
  const folder = join(directory.path, project);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, "manifest.json.new"), "left by a crash");
  await store.write(project, ORIGIN, [index]);

  const entries = readdirSync(directory.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.map((file) => file.name).filter((name) => name.endsWith(".segment"))).toHaveLength(
    1,
  );
  expect(files).toHaveLength(3);
  for (const file of files) expect(modeOf(join(file.parentPath, file.name)), file.name).toBe("600");
  for (const path of [join(dataDir, "index"), directory.path, join(directory.path, project)]) {
    expect(modeOf(path), path).toBe("700");
  }
  directory.release();
});
