/** Reads what a power cut leaves of indexes, as a start does. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FieldIndex } from "../../../src/index/fields/field-index.ts";
import { SnapshotStore } from "../../../src/index/snapshots/snapshot-store.ts";
import { TextIndex } from "../../../src/index/text/text-index.ts";
import { VectorIndex } from "../../../src/index/vector/vector-index.ts";
import { VersionTable } from "../../../src/index/versions/version-table.ts";
import { memoryFolder } from "../../../support/folders.ts";
import { type Remains, restore } from "./disk/disk.ts";

/** The folder of the snapshot of a project. */
const SNAPSHOT = /^(data\/index\/slot-\d+\/)([^/]+)\//;
const NAMES = { of: (project: string) => `torn-${project}`, drop() {} };

/** Of files that are torn, those that a start would take for whole ones. */
export async function believedFiles(remains: Remains, torn: readonly string[]): Promise<string[]> {
  const believed = torn.filter((path) => !SNAPSHOT.test(path));
  for (const [folder, paths] of Map.groupBy(torn, (path) => SNAPSHOT.exec(path)?.[0] ?? "")) {
    if (folder !== "" && (await isBelieved(remains, folder))) believed.push(...paths);
  }
  return believed;
}

async function isBelieved(remains: Remains, snapshot: string): Promise<boolean> {
  const [, slot = "", project = ""] = SNAPSHOT.exec(snapshot) ?? [];
  const folder = memoryFolder("torn");
  const indexes = [new FieldIndex(NAMES), new VectorIndex(NAMES), new TextIndex(() => {})];
  const files = [...remains].flatMap(([path, file]) =>
    path.startsWith(snapshot) ? [[path.slice(slot.length), file] as const] : [],
  );
  try {
    mkdirSync(join(folder, project));
    restore(new Map(files), folder);
    const store = new SnapshotStore(folder);
    const manifest = store.read(project);
    if (manifest === null) return false;
    const table = new VersionTable();
    for (const index of indexes) {
      const parts = manifest.parts[index.name] ?? [];
      await index.restore(project, table, store.reader(project, parts));
    }
    return true;
  } catch {
    return false;
  } finally {
    for (const index of indexes) index.dropProject(project);
    rmSync(folder, { recursive: true, force: true });
  }
}
