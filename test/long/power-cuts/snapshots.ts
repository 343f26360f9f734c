/** Reads what a power cut leaves of indexes, as a start does. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dropProject, restore as restoreVectors } from "../../../native/index.ts";
import { FieldProject } from "../../../src/index/fields/field-project.ts";
import { readFieldSnapshot } from "../../../src/index/fields/field-snapshot.ts";
import { SnapshotStore } from "../../../src/index/snapshots/snapshot-store.ts";
import { TextProject } from "../../../src/index/text/text-project.ts";
import { readTextSnapshot } from "../../../src/index/text/text-snapshot.ts";
import { VersionTable } from "../../../src/index/versions/version-table.ts";
import { memoryFolder } from "../../../support/folders.ts";
import { type Remains, restore } from "./disk/disk.ts";

const INDEX = /^data\/index\/slot-\d+\/([^/]+)\/(vector|text|fields|manifest\.json)/;

const READERS: Readonly<Record<string, (folder: string, project: string) => Promise<boolean>>> = {
  async vector(folder, project) {
    const meta = await restoreVectors(project, folder);
    if (meta !== null) dropProject(project);
    return meta !== null;
  },
  text: (folder) => readTextSnapshot(new TextProject(new VersionTable()), folder, 0),
  fields: (folder) => readFieldSnapshot(new FieldProject(), folder, 0),
};

/** Of files that are torn, those that a start would take for whole ones. */
export async function believedFiles(remains: Remains, torn: readonly string[]): Promise<string[]> {
  const believed = torn.filter((path) => !INDEX.test(path));
  for (const [part, paths] of Map.groupBy(torn, (path) => INDEX.exec(path)?.[0] ?? "")) {
    if (part !== "" && (await isBelieved(remains, part))) believed.push(...paths);
  }
  return believed;
}

async function isBelieved(remains: Remains, part: string): Promise<boolean> {
  const [, project = "", name = ""] = INDEX.exec(part) ?? [];
  const folder = memoryFolder("torn");
  const parent = part.slice(0, part.lastIndexOf("/") + 1);
  try {
    // What is left of the part, below a folder of the project.
    const files = [...remains].flatMap(([path, file]) =>
      path.startsWith(part) ? [[path.slice(parent.length), file] as const] : [],
    );
    mkdirSync(join(folder, project));
    restore(new Map(files), join(folder, project));
    const reader = READERS[name];
    if (reader === undefined) return new SnapshotStore(folder).read(project) !== null;
    return await reader(join(folder, project, name), project);
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
