import { expect, test } from "bun:test";
import { buildSegment, SegmentReader } from "../../../../src/index/segments/index.ts";
import { runSegmentTask, type SegmentTask } from "../../../../src/index/text/segment-task.ts";
import { TextMaintenance } from "../../../../src/index/text/text-maintenance.ts";
import { TextProject } from "../../../../src/index/text/text-project.ts";
import { turns } from "../../../../support/fake-clock.ts";
import { setScope, tableOf } from "../tables.ts";

const NO_REST = 0;
const LONG_REST_MS = 3_600_000;
const SEGMENTS = 2;
const WORDS = 60_000;

/** A project with segments that are large enough to be merged on another thread. */
function mergeableProject(): TextProject {
  const ids = Array.from({ length: SEGMENTS }, (_, s) => `document-${s}`);
  const table = tableOf(...ids);
  const project = new TextProject(table);
  for (const id of ids) {
    const content = Array.from({ length: WORDS }, (_, i) => `${id}w${i}`).join(" ");
    const document = { id, path: `${id}.md`, title: id, headings: [], frontmatter: [], content };
    project.addSegment(id, new SegmentReader(buildSegment([document])));
  }
  setScope(table, project, "scope", ids);
  return project;
}

/** A thread whose first merges fail. */
function failingThread(failures: number) {
  let left = failures;
  return {
    merges: 0,
    async run(task: SegmentTask) {
      this.merges++;
      if (left-- > 0) throw new Error("out of memory");
      return runSegmentTask(task);
    },
  };
}

test("a merge that failed is reported once, leaves the project as it was, and is tried again", async () => {
  const project = mergeableProject();
  const thread = failingThread(1);
  const maintenance = new TextMaintenance(thread, thread, NO_REST);
  expect(maintenance.next(project)).toBeNull();
  await turns();
  expect(() => maintenance.next(project)).toThrow("out of memory");
  expect(project.segments.size).toBe(SEGMENTS);
  expect(maintenance.next(project)).toBeNull();
  await turns();
  expect(maintenance.next(project)?.removed).toHaveLength(SEGMENTS);
  expect(project.segments.size).toBe(1);
  expect(thread.merges).toBe(2);
});

test("after a failed merge a project rests before the next one", async () => {
  const project = mergeableProject();
  const thread = failingThread(1);
  const maintenance = new TextMaintenance(thread, thread, LONG_REST_MS);
  maintenance.next(project);
  await turns();
  expect(() => maintenance.next(project)).toThrow();
  for (let i = 0; i < 10; i++) expect(maintenance.next(project)).toBeNull();
  expect(thread.merges).toBe(1);
});
