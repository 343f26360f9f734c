import { expect, test } from "bun:test";
import type { IndexingContext } from "../../../../src/index/projects/indexing-context.ts";
import { LoadedProject } from "../../../../src/index/projects/loaded-project.ts";
import type { MaintenanceState } from "../../../../src/index/versions/version-index.ts";

const POSITION = { seq: 9, at: "now" };

/** A project whose changes up to POSITION were handed over, and the positions that its snapshots name. */
function openProject(write = async () => {}, indexes: readonly object[] = []) {
  const saved: number[] = [];
  const context = {
    anchor: () => POSITION,
    databaseId: "database",
    indexes,
    snapshots: {
      async write(_: string, { seq }: { seq: number }) {
        await write();
        saved.push(seq);
      },
    },
  } as unknown as IndexingContext;
  return { project: new LoadedProject("project", context, () => {}), saved };
}

test("a snapshot names the last position before the oldest change that it lacks", async () => {
  const { project, saved } = openProject();
  await project.save();
  for (const seq of [7, 5, 8]) {
    project.indexer.mark({ id: `scope ${seq}`, kind: "environment" }, seq);
    await project.save();
  }
  project.indexer.readAgain("version", 3);
  await project.save();
  expect(saved).toEqual([9, 6, 4, 4, 2]);
});

test("a snapshot never names a position beyond what was handed over", async () => {
  const { project, saved } = openProject();
  project.indexer.mark({ id: "scope", kind: "environment" }, 12);
  await project.save();
  expect(saved).toEqual([9]);
});

test("what a failed snapshot lacks is still unsaved", async () => {
  const { project } = openProject(() => Promise.reject(new Error("disk full")));
  project.indexer.unsavedChanges = 2;
  await expect(project.save()).rejects.toThrow("disk full");
  expect(project.indexer.unsavedChanges).toBe(2);
  expect(project.canSave(performance.now())).toBe(false);
});

test("finished maintenance is saved if it has changed an index", () => {
  const states: MaintenanceState[] = ["busy", "done", "busy", "more", "busy", "done", "done"];
  const index = { name: "vector", maintain: () => states.shift() };
  const { project } = openProject(undefined, [index]);
  const unsaved = [...states].map((state) => {
    expect(project.maintain()).toBe(state);
    return project.indexer.unsavedChanges;
  });
  expect(unsaved).toEqual([0, 0, 0, 0, 0, 1, 1]);
});
